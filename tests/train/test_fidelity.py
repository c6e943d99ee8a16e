"""What a student finds likely of what its tutor says is told apart by verb, and in a call by what decides it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from tests.train.conftest import Run
from training import fidelity
from training.learner import Learner
from training.policy_model import Lora, PolicyModel
from training.prefix_tree import Sample


@pytest.fixture(scope="module")
def model(tiny: Path) -> PolicyModel:
    torch.manual_seed(1)
    return PolicyModel(tiny, Lora(4, 8), None, torch.device("cpu"))


def test_a_call_is_told_apart_by_what_decides_it(model: PolicyModel) -> None:
    text = "ask 1 12 3 4 medium"
    parts = fidelity.parts(text, model)
    whole = parts.pop("ask")
    assert {name: "".join(_pieces(model, text, places)).split() for name, places in parts.items()} == {
        "ask: question": ["1"],
        "ask: model": ["12"],
        "ask: segments": ["3", "4"],
        "ask: effort": ["medium"],
    }
    assert len(whole) == len(model.action_ids(text)), "its end is part of an action"


def _pieces(model: PolicyModel, text: str, places: list[int]) -> list[str]:
    """Digits are tokens of their own: a number's stand together."""
    offsets = model.tokenizer.encode(text).offsets
    ends = [(text[slice(*offsets[place])], text[offsets[place][1] :][:1]) for place in places]
    return [piece if after.isdigit() else f"{piece} " for piece, after in ends]


def test_what_a_network_would_say_itself_is_the_likeliest(model: PolicyModel) -> None:
    """Each token as likely as by itself, whatever other samples share its tree."""
    prompts = [model.action_ids("read 1 read 2"), model.action_ids("read 1 read 3")]
    own = [int(model.causal(_row(prompts[0])).logits[0, -1].argmax())]
    own.append(int(model.causal(_row(np.append(prompts[0], own))).logits[0, -1].argmax()))
    samples = [Sample(prompts[0], np.asarray(own, dtype=np.int32)), Sample(prompts[1], model.action_ids("ask 1 2 3"))]
    learner = Learner(model, None, 512, 512)
    found = fidelity.heard(learner, samples)
    assert found[0][1].all()
    assert not found[1][1].all()
    for sample, (shares, likeliest) in zip(samples, found, strict=True):
        text = np.concatenate([sample.prompt_ids, sample.action_ids])
        every = model.causal(_row(text)).logits[0, len(sample.prompt_ids) - 1 : -1].log_softmax(-1)
        said = torch.from_numpy(sample.action_ids).long()
        assert torch.equal(every.argmax(-1) == said, torch.from_numpy(likeliest))
        assert torch.allclose(every.gather(-1, said[:, None])[:, 0], torch.from_numpy(shares), atol=1e-4)


def _row(ids: NDArray[np.int32]) -> torch.Tensor:
    return torch.from_numpy(ids)[None].long()


def test_the_table_names_every_verb_that_the_tutor_says(run: Run, tiny: Path, data: Path) -> None:
    done = run("fidelity", "--base", tiny, "--box", data.with_suffix(".zip"), "--cases", 2)
    rows = {line.split("|")[1].strip() for line in done.stdout.splitlines()[2:]}
    assert {"ask", "ask: model", "ask: segments", "find", "submit"} <= rows


def test_a_missing_model_is_told_in_one_line(run: Run, data: Path, tmp_path: Path) -> None:
    done = run("fidelity", "--base", tmp_path, "--box", data.with_suffix(".zip"), code=1)
    assert done.stderr.count("\n") == 1
    assert "there is no model" in done.stderr
