"""The formats of a GPU, tried on a processor: half the digits, the same policy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.train.test_prefix_tree import samples
from TokenOptEnv.config import Profile
from training.grammar import TokenGrammar
from training.learner import Learner
from training.policy_model import ON_GPU, WHOLE, Lora, PolicyModel
from training.prefix_tree import Sample
from training.sampler import Said, Sampler, Sampling

CPU = torch.device("cpu")
LORA = Lora(4, 8)


@pytest.mark.parametrize("lora", [LORA, None], ids=["adapter", "every weight"])
def test_half_precision_gives_nearly_the_same_and_learns(tiny: Path, lora: Lora | None) -> None:
    models = [PolicyModel(tiny, lora, None, CPU, formats) for formats in (ON_GPU, WHOLE)]
    learners = [Learner(model, None, 10_000, 10_000) for model in models]
    half, whole = (np.concatenate(each.measured(each.lessons(samples(), 1.0, 0.0))) for each in learners)
    np.testing.assert_allclose(half, whole, atol=0.1)
    assert np.abs(half - whole).max() > 0.0
    lessons = learners[0].lessons(samples(), 1.0, 0.0)
    values = [learners[0].step(lessons, lambda scores, _: -scores.logprobs.mean(), 1e-2, 1.0)[0] for _ in range(5)]
    assert values[-1] < values[0]


def test_a_small_update_survives_the_copy_that_is_sampled_from(tiny: Path) -> None:
    """Merged into bfloat16, most of an update a thousand times smaller than a weight would be rounded away."""
    model = PolicyModel(tiny, LORA, None, CPU, ON_GPU)
    layers = [name for name, _ in model.sampled.named_modules() if name.endswith("q_proj")]
    before = {name: model.sampled.get_submodule(name).weight.clone() for name in layers}
    with torch.no_grad():
        for name, weight in model.trainable():
            if "lora_B" in name:
                weight.fill_(2e-4)
    model.refresh_sampled()
    for name in layers:
        update = model.causal.get_submodule(name).get_delta_weight("default").detach()
        assert arrived(before[name], model.sampled.get_submodule(name).weight, update) > 0.8
        coarse = before[name].bfloat16()
        assert arrived(coarse, (coarse + update).bfloat16(), update) < 0.5


def arrived(before: torch.Tensor, after: torch.Tensor, update: torch.Tensor) -> float:
    """How much of an update is there afterwards: 1 if all of it, 0 if nothing."""
    return float(((after.float() - before.float()) * update).sum() / update.square().sum())


def test_sampling_in_half_precision_agrees_with_what_is_learnt_from(tiny: Path) -> None:
    model = PolicyModel(tiny, LORA, None, CPU, ON_GPU)
    grammar = TokenGrammar.of_actions(Profile.V2, model.tokenizer, model.eos_id, model.causal.config.vocab_size)
    sampler = Sampler(model, Sampling(8), grammar)
    sampler.seed(1)
    heard: dict[int, Said] = {}
    prompts = [each.prompt_ids for each in samples()]
    sampler.say(prompts, lambda places, said: heard.update(zip(places, said, strict=True)))
    learner = Learner(model, grammar, 10_000, 10_000)
    spoken = [Sample(prompt, heard[place].ids) for place, prompt in enumerate(prompts)]
    measured = np.concatenate(learner.measured(learner.lessons(spoken, 1.0, 0.0)))
    np.testing.assert_allclose(np.concatenate([heard[place].logprobs for place in range(5)]), measured, atol=0.15)
