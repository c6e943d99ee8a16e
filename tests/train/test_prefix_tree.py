"""A tree gives the losses and gradients of the separate prompts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from training import llama, prefix_tree, stretches
from training.learner import Learner, Lesson
from training.policy_model import Lora, PolicyModel
from training.prefix_tree import Sample

CPU = torch.device("cpu")


def samples(seed: int = 0, count: int = 5) -> list[Sample]:
    """Steps of an episode: a head that stays, items that are appended, a tail that is always new."""
    draw = np.random.default_rng(seed)
    head, items = draw.integers(3, 1_000, 60), draw.integers(3, 1_000, 50)
    return [
        Sample(
            np.concatenate([head, items[: 9 * step], draw.integers(3, 1_000, 8)]).astype(np.int32),
            draw.integers(3, 1_000, 5).astype(np.int32),
        )
        for step in range(count)
    ]


@pytest.fixture(scope="module")
def model(tiny: Path) -> PolicyModel:
    made = PolicyModel(tiny, Lora(4, 8), None, CPU)
    torch.manual_seed(1)
    with torch.no_grad():
        for _, weight in made.trainable():
            weight.add_(0.05 * torch.randn_like(weight))
    made.refresh_sampled()
    return made


def separate(model: PolicyModel, sample: Sample) -> torch.Tensor:
    ids = torch.from_numpy(np.concatenate([sample.prompt_ids, sample.action_ids]).astype(np.int64))[None]
    logprobs = model.net(input_ids=ids).logits.float().log_softmax(-1)[0]
    first = len(sample.prompt_ids)
    return logprobs[torch.arange(first - 1, ids.shape[1] - 1), ids[0, first:]]


def test_a_tree_is_shorter_than_its_prompts() -> None:
    steps = samples()
    (tree,) = prefix_tree.grow(steps, 10_000)
    assert len(tree.tokens) < 0.5 * sum(len(step.prompt_ids) + len(step.action_ids) for step in steps)
    assert tree.targets == [token for step in steps for token in step.action_ids.tolist()]


MASKED = pytest.mark.parametrize("is_masked", [True, False], ids=["masked", "by stretches"])


@MASKED
def test_log_probabilities_are_those_of_separate_prompts(model: PolicyModel, is_masked: bool) -> None:
    steps = [*samples(), samples()[2]]
    learner = Learner(model, None, 10_000, 10_000, is_masked)
    both = [*learner.lessons(steps, 1.0, 0.0), *learner.lessons(samples(7, 2), 1.0, 0.0)]
    measured = learner.measured(both)
    with torch.no_grad():
        alone = [torch.cat([separate(model, step) for step in group]) for group in (steps, samples(7, 2))]
    for found, wanted in zip(measured, alone, strict=True):
        np.testing.assert_allclose(found, wanted.numpy(), atol=2e-5)


def test_samples_alone_need_no_mask_and_say_the_same(model: PolicyModel) -> None:
    steps = samples(3)
    learner = Learner(model, None, 10, 10_000, is_masked=True)
    lessons = learner.lessons(steps, 1.0, 0.0)
    together = prefix_tree.batch([lesson.tree for lesson in lessons], CPU)
    assert len(lessons) == len(steps) and together.sight(torch.float32) is None
    for found, step in zip(learner.measured(lessons), steps, strict=True):
        np.testing.assert_allclose(found, separate(model, step).detach().numpy(), atol=2e-5)


def test_only_what_is_off_the_trunk_is_masked() -> None:
    """Whichever sample is the longest."""
    steps = samples()
    for order in (steps, steps[::-1], [steps[2], steps[4], steps[0]]):
        (tree,) = prefix_tree.grow(order, 10_000)
        together = prefix_tree.batch([tree], CPU)
        mask = together.sight(torch.float32)
        longest = max(order, key=lambda step: len(step.prompt_ids))
        text = np.concatenate([longest.prompt_ids, longest.action_ids])
        assert mask is not None and mask.shape[2] == together.tokens.shape[1] - together.trunk_tokens < len(text)
        assert together.tokens[0, : len(text)].tolist() == text.tolist()


def test_prompts_with_little_in_common_become_trees_of_their_own() -> None:
    """A purge: what the earlier prompts end with would all be under a mask."""
    draw = np.random.default_rng(0)
    head, dropped, after = (draw.integers(3, 1_000, size) for size in (300, 1_100, 1_200))
    steps = [
        Sample(np.concatenate(each).astype(np.int32), head[:5].astype(np.int32))
        for each in ((head, dropped), (head, dropped, head[:20]), (head, after), (head, after, head[:20]))
    ]
    assert [len(tree.reach) for tree in prefix_tree.grow(steps, 10_000)] == [2, 2]


def test_kernels_that_want_a_key_head_for_each_say_the_same(
    model: PolicyModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On GPUs before Ampere."""
    learner = Learner(model, None, 10_000, 10_000, is_masked=True)
    lessons = learner.lessons(samples(), 1.0, 0.0)
    (shared,) = learner.measured(lessons)
    monkeypatch.setattr(llama, "takes_groups", lambda device: False)
    np.testing.assert_allclose(learner.measured(lessons)[0], shared, atol=2e-5)


@MASKED
def test_gradients_are_those_of_separate_prompts(model: PolicyModel, is_masked: bool) -> None:
    steps = samples()
    learner = Learner(model, None, 10_000, 10_000, is_masked)
    weights = [weight for _, weight in model.trainable()]
    lessons = [lesson for some in (steps[:2], steps[2:]) for lesson in learner.lessons(some, 1.0, 0.0)]
    with model.reading() as read:
        for lesson in lessons:
            learner.scores([lesson], read).logprobs.sum().backward()  # type: ignore[no-untyped-call]
    of_tree = [weight.grad for weight in weights]
    for weight in weights:
        weight.grad = None
    alone = torch.autograd.grad(torch.stack([separate(model, step).sum() for step in steps]).sum(), weights)
    for found, wanted in zip(of_tree, alone, strict=True):
        torch.testing.assert_close(found, wanted, atol=2e-4, rtol=2e-4)


@pytest.mark.parametrize("longest", [1, 7, 256])
def test_stretches_of_any_length_say_the_same(
    model: PolicyModel, longest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of several trees in one row, too."""
    monkeypatch.setattr(stretches, "_LONGEST", longest)
    learner = Learner(model, None, 10_000, 10_000, is_masked=False)
    lessons = [lesson for some in (samples(), samples(7, 2)) for lesson in learner.lessons(some, 1.0, 0.0)]
    with model.reading() as read, torch.no_grad():
        together = learner.scores(lessons, read).logprobs
        wanted = torch.cat([separate(model, step) for step in (*samples(), *samples(7, 2))])
    torch.testing.assert_close(together, wanted, atol=2e-5, rtol=0.0)


def test_an_episode_too_long_for_one_tree_becomes_several(model: PolicyModel) -> None:
    steps = samples()
    whole, split = (Learner(model, None, most, 10_000).lessons(steps, 1.0, 0.0) for most in (10_000, 150))
    assert len(whole) == 1 < len(split)
    learner = Learner(model, None, 10_000, 10_000)
    np.testing.assert_allclose(
        np.concatenate(learner.measured(split)), np.concatenate(learner.measured(whole)), atol=2e-5
    )


def test_every_token_of_a_sample_has_its_weight_in_whichever_tree_it_stands(model: PolicyModel) -> None:
    steps = samples()
    for most in (10_000, 150):
        lessons = Learner(model, None, most, 10_000).lessons(steps, [1.0, 2.0, 3.0, 4.0, 5.0], 0.0)
        assert np.concatenate([lesson.weights for lesson in lessons]).tolist() == np.repeat(range(1, 6), 5).tolist()


def test_batches_hold_every_lesson_once(model: PolicyModel) -> None:
    learner = Learner(model, None, 10_000, 400, is_masked=True)
    lessons: list[Lesson] = [lesson for seed in range(7) for lesson in learner.lessons(samples(seed), 1.0, 0.0)]
    batches = list(learner.batches(lessons))
    assert sorted(place for places in batches for place in places) == list(range(len(lessons)))
    assert len(batches) > 1


def alone(tokens: int) -> prefix_tree.Tree:
    text = np.arange(tokens, dtype=np.int32)
    (tree,) = prefix_tree.grow([Sample(text[:-3], text[-3:])], 10_000)
    return tree


def test_a_batch_wastes_tokens_only_where_another_one_would_take_longer() -> None:
    """Three trees of 48 tokens and one of 16, padded to 48 beside them."""
    trees = [alone(48), alone(48), alone(48), alone(16)]
    assert prefix_tree.shares(trees, 10_000, 20) == [3, 1]
    assert prefix_tree.shares(trees, 10_000, 1_000) == [4]


def test_batches_have_as_many_tokens_as_they_may_or_one_tree() -> None:
    trees = [alone(48), alone(48), alone(48), alone(16)]
    assert prefix_tree.shares(trees, 100, 1_000) == [2, 2]
    assert prefix_tree.shares(trees, 1, 1_000) == [1] * 4
    assert prefix_tree.shares([], 100, 1_000) == []
