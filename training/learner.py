"""One gradient step over the trees of many episodes: what the warm start and the reinforcement have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from training import prefix_tree
from training.grammar import TokenGrammar
from training.policy_model import PolicyModel, Reader
from training.prefix_tree import Sample, Tree
from training.stretches import flat

_FIXED_TOKENS = 140_000
"""A GPU computes so many in the time that launching a batch takes, forth and back: an eighth of a second on an H200."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A tree with, for each of its action tokens, how much it counts and what it is compared with."""

    tree: Tree
    states: list[int] | None
    """Of the grammar, before each action token; None where no grammar is laid over the logits."""
    weights: NDArray[np.float32]
    advantages: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Scores:
    """By action token of a batch."""

    logprobs: Tensor
    entropies: Tensor
    """Told, never learnt from."""
    are_likeliest: Tensor
    """Whether no other token is likelier."""


Loss = Callable[[Scores, Sequence[int]], Tensor]
"""From the scores of some lessons, named by place, to the sum that is minimised."""


class Learner:
    def __init__(
        self,
        model: PolicyModel,
        grammar: TokenGrammar | None,
        most_tree_tokens: int,
        most_batch_tokens: int,
        is_masked: bool | None = None,
    ) -> None:
        """`is_masked` as on a GPU, or by stretches as on a processor."""
        self.model, self.grammar = model, grammar
        self._is_masked = model.device.type == "cuda" if is_masked is None else is_masked
        self._most_tree_tokens, self._most_batch_tokens = most_tree_tokens, most_batch_tokens
        self.optimizer = torch.optim.AdamW(
            [each for _, each in model.trainable()], lr=0.0, betas=(0.9, 0.99), weight_decay=0.0
        )

    def lessons(
        self,
        samples: Sequence[Sample],
        weight: float | Sequence[float],
        advantage: float | Sequence[NDArray[np.float32]],
    ) -> list[Lesson]:
        """An episode, every action token with this weight, or its sample's; with this advantage, or one of its own.

        A sample outside the grammar teaches nothing.
        """
        every = np.broadcast_to(np.asarray(weight, dtype=np.float32), len(samples))
        taught = [place for place, sample in enumerate(samples) if self._states(sample) is not None]
        kept, weights = [samples[place] for place in taught], every[taught]
        owed = [
            np.full(len(samples[place].action_ids), advantage, dtype=np.float32)
            if isinstance(advantage, float)
            else advantage[place]
            for place in taught
        ]
        lessons = []
        for tree in self._grown(kept):
            inside, states = sorted(set(tree.samples)), None
            if self.grammar is not None:
                states = [state for number in inside for state in self._states(kept[number]) or []]
            advantages = np.concatenate([owed[number] for number in inside])
            lessons.append(Lesson(tree, states, weights[tree.samples], advantages))
        return lessons

    def _grown(self, samples: Sequence[Sample]) -> list[Tree]:
        if self._is_masked:
            return prefix_tree.grow(samples, self._most_tree_tokens)
        return prefix_tree.grow(samples, self._most_tree_tokens, self._most_tree_tokens)

    def _states(self, sample: Sample) -> list[int] | None:
        return [] if self.grammar is None else self.grammar.states(sample.action_ids.tolist())

    def batches(self, lessons: Sequence[Lesson]) -> Iterator[list[int]]:
        """Lessons of like length together, by place; by stretches nothing is padded, so one after the other."""
        if not self._is_masked:
            yield from ([place] for place in range(len(lessons)))
            return
        order = sorted(range(len(lessons)), key=lambda place: -len(lessons[place].tree.trunk))
        trees = [lessons[place].tree for place in order]
        for rows in prefix_tree.shares(trees, self._most_batch_tokens, _FIXED_TOKENS):
            yield order[:rows]
            order = order[rows:]

    def scores(self, lessons: Sequence[Lesson], read: Reader) -> Scores:
        trees = [each.tree for each in lessons]
        logits = read(prefix_tree.batch(trees, self.model.device) if self._is_masked else flat(trees))
        if self.grammar is not None:
            states = [state for each in lessons for state in each.states or []]
            logits = self.grammar.masked(logits, torch.tensor(states, device=logits.device))
        targets = torch.tensor([token for each in lessons for token in each.tree.targets], device=logits.device)
        every = logits.log_softmax(-1)
        with torch.no_grad():
            shares = every.exp()
            entropies = -(shares * every.masked_fill(shares == 0.0, 0.0)).sum(-1)
        return Scores(every.gather(-1, targets[:, None])[:, 0], entropies, every.argmax(-1) == targets)

    @torch.no_grad()
    def measured(self, lessons: Sequence[Lesson]) -> list[NDArray[np.float32]]:
        """The log-probabilities of every lesson's action tokens, as the network stands."""
        found: dict[int, NDArray[np.float32]] = {}
        with self.model.reading() as read:
            for places in self.batches(lessons):
                logprobs = self.scores([lessons[place] for place in places], read).logprobs.cpu().numpy()
                ends = np.cumsum([len(lessons[place].tree.targets) for place in places])[:-1]
                found.update(zip(places, np.split(logprobs, ends), strict=True))
        return [found[place] for place in range(len(lessons))]

    def step(self, lessons: Sequence[Lesson], loss: Loss, rate: float, longest_gradient: float) -> tuple[float, float]:
        """Descend once; the loss and the length of its gradient."""
        values: list[Tensor] = []
        with self.model.reading() as read:
            for places in self.batches(lessons):
                value = loss(self.scores([lessons[place] for place in places], read), places)
                value.backward()  # type: ignore[no-untyped-call]
                values.append(value.detach())
        parameters = [each for _, each in self.model.trainable()]
        length = float(torch.nn.utils.clip_grad_norm_(parameters, longest_gradient))
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return float(sum(values)), length

    def weights(self) -> dict[str, Tensor]:
        return {name: each.detach().clone() for name, each in self.model.trainable()}

    @contextmanager
    def swapped(self, weights: dict[str, Tensor]) -> Iterator[None]:
        """The network as it was, for a while."""
        now = self.weights()
        self._put(weights)
        try:
            yield
        finally:
            self._put(now)

    @torch.no_grad()
    def _put(self, weights: dict[str, Tensor]) -> None:
        for name, each in self.model.trainable():
            each.copy_(weights[name])

    def state(self) -> dict[str, object]:
        return {"weights": self.weights(), "optimizer": self.optimizer.state_dict()}

    def restore(self, state: dict[str, object]) -> None:
        weights, optimizer = state["weights"], state["optimizer"]
        assert isinstance(weights, dict) and isinstance(optimizer, dict)
        self._put(weights)
        self.optimizer.load_state_dict(optimizer)
        self.model.refresh_sampled()


def laid_out(parts: Sequence[NDArray[np.float32]], device: torch.device) -> Tensor:
    """What is kept by lesson, as scores are: by action token of a batch."""
    return torch.from_numpy(np.concatenate(parts)).to(device)
