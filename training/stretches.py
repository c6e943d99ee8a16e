"""A tree read on a processor: every token attends along its own way to the root, and nothing is padded or hidden.

Under a mask each token is set against all others, most of which it may not see. A GPU hardly minds; a processor takes
four times as long. Here a branch is cut into stretches. What one of them sees is a few slices of the tokens before it,
so its scores are one dense product, and only its own tokens need a triangle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from training.prefix_tree import Tree

_LONGEST = 256
"""Tokens of a stretch: enough for products to be quick, few enough that the triangle wastes little."""

Slice = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Stretch:
    first: int
    last: int
    way: tuple[Slice, ...]
    """The keys that its tokens see, in order; they end with its own, of which each sees what is not behind it."""


@dataclass(frozen=True, slots=True)
class FlatTrees:
    """Trees one after the other, as one row: what `TreeBatch` is on a GPU."""

    tokens: Tensor
    positions: Tensor
    stretches: tuple[Stretch, ...]
    rows: Tensor
    predictors: Tensor

    def sight(self, dtype: torch.dtype) -> tuple[Stretch, ...]:
        return self.stretches


def flat(trees: Sequence[Tree]) -> FlatTrees:
    begins = np.cumsum([0, *(len(tree.tokens) for tree in trees)]).tolist()
    predictors = [begin + place for begin, tree in zip(begins, trees, strict=False) for place in tree.predictors]
    return FlatTrees(
        tokens=torch.tensor([[token for tree in trees for token in tree.tokens]]),
        positions=torch.tensor([[place for tree in trees for place in tree.positions]]),
        stretches=tuple(each for begin, tree in zip(begins, trees, strict=False) for each in _stretches(tree, begin)),
        rows=torch.zeros(len(predictors), dtype=torch.long),
        predictors=torch.tensor(predictors),
    )


def _stretches(tree: Tree, begin: int) -> Iterator[Stretch]:
    """A branch's tokens stand side by side, and earlier branches before it."""
    sizes = np.bincount(tree.branches)
    starts = begin + np.concatenate([[0], np.cumsum(sizes)])
    for branch, standing in enumerate(tree.reach):
        below = [(int(starts[each]), int(starts[each]) + tokens) for each, tokens in enumerate(standing) if tokens]
        start, end = int(starts[branch]), int(starts[branch + 1])
        for first in range(start, end, _LONGEST):
            last = min(first + _LONGEST, end)
            yield Stretch(first, last, (*below, (start, last)))


def going_on(known: int, size: int) -> tuple[Stretch, ...]:
    """Of a plain text whose first tokens were read before: their keys are there, their queries are not."""
    return tuple(
        Stretch(first - known, min(first + _LONGEST, size) - known, ((0, min(first + _LONGEST, size)),))
        for first in range(known, size, _LONGEST)
    )


def attended(query: Tensor, key: Tensor, value: Tensor, stretches: tuple[Stretch, ...]) -> Tensor:
    """(1, heads, tokens, width), as other attentions take and give it."""
    found: Tensor = _Attended.apply(query[0] * query.shape[-1] ** -0.5, key[0], value[0], stretches)  # type: ignore[no-untyped-call]
    return found[None]


class _Attended(torch.autograd.Function):
    """Written out, so that gradients of keys and values add up in place: a stretch touches few of them.

    Who attends to what is computed again for the gradients: kept, it would take more room than all else.
    """

    @staticmethod
    def forward(context: Any, query: Tensor, key: Tensor, value: Tensor, stretches: tuple[Stretch, ...]) -> Tensor:
        found = torch.empty_like(query)
        for each in stretches:
            seen = _shares(query, key, each) @ _along(value, each.way)
            found[:, each.first : each.last] = seen.view(len(query), each.last - each.first, -1)
        context.stretches = stretches
        context.save_for_backward(query, key, value)
        return found

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        query, key, value = context.saved_tensors
        (owed,) = gradients
        query_owed = torch.empty_like(query)
        key_owed, value_owed = (torch.zeros_like(each, dtype=torch.float32) for each in (key, value))
        for each in context.stretches:
            here, shares = _grouped(owed, key, each), _shares(query, key, each)
            scores_owed = torch._softmax_backward_data(here @ _along(value, each.way).mT, shares, -1, shares.dtype)
            asked = scores_owed @ _along(key, each.way)
            query_owed[:, each.first : each.last] = asked.view(len(query), each.last - each.first, -1)
            _pay(key_owed, scores_owed.mT @ _grouped(query, key, each), each.way)
            _pay(value_owed, shares.mT @ here, each.way)
        return query_owed, key_owed.to(key.dtype), value_owed.to(value.dtype), None


def _shares(query: Tensor, key: Tensor, stretch: Stretch) -> Tensor:
    """How much each query of a stretch attends to each key that it sees."""
    scores = _grouped(query, key, stretch) @ _along(key, stretch.way).mT
    own = stretch.last - stretch.first
    scores.view(len(key), -1, own, scores.shape[-1])[..., -own:].add_(_triangle(own, query.dtype))
    return scores.softmax(-1)


def _grouped(heads: Tensor, key: Tensor, stretch: Stretch) -> Tensor:
    """The heads that share a key head as its queries."""
    return heads[:, stretch.first : stretch.last].reshape(len(key), -1, heads.shape[-1])


def _along(states: Tensor, way: Sequence[Slice]) -> Tensor:
    return torch.cat([states[:, first:last] for first, last in way], dim=1)


def _pay(owed: Tensor, gradient: Tensor, way: Sequence[Slice]) -> None:
    paid = 0
    for first, last in way:
        owed[:, first:last] += gradient[:, paid : paid + last - first]
        paid += last - first


@cache
def _triangle(size: int, dtype: torch.dtype) -> Tensor:
    """Hides from each of so many tokens those behind it."""
    return torch.full((size, size), torch.finfo(dtype).min, dtype=dtype).triu(1)
