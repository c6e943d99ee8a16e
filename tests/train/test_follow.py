"""What a student is told of an episode that it played itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from training.follow import advised
from training.policy_model import Lora, PolicyModel
from training.prefix_tree import Sample
from training.rollouts import Played, Task


def test_what_should_have_been_said_is_told_once_where_a_student_repeats_itself(tiny: Path) -> None:
    model = PolicyModel(tiny, Lora(4, 8), None, torch.device("cpu"))
    steps = [("read 1", "read 4"), ("read 1", "read 4"), ("read 1", "load 2"), ("find x", "load 2"), ("submit 1", None)]
    prompts = [np.arange(3, 9 + place, dtype=np.int32) for place in range(len(steps))]
    played = Played(
        Task("some-case", 0),
        samples=[Sample(prompt, model.action_ids(said)) for prompt, (said, _) in zip(prompts, steps, strict=True)],
        advice=[advice for _, advice in steps],
    )
    told = advised(played, model)
    assert [each.prompt_ids.tolist() for each in told] == [prompts[place].tolist() for place in (0, 2, 3)]
    for sample, advice in zip(told, ("read 4", "load 2", "load 2"), strict=True):
        assert sample.action_ids.tolist() == model.action_ids(advice).tolist()
