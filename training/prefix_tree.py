"""The steps of an episode, laid over one another: what their prompts share is computed once.

A memory-true prompt is built anew at each step, yet most of it stood in the step before: the head never changes, and
items are appended more often than dropped. Written one below the other, the prompts of an easy episode take some
14,000 tokens; as a tree, in which a step branches off where it first differs from an earlier one, some 4,000. Every
token keeps the position it has in its own prompt and attends to exactly the tokens before it there, so losses and
gradients are those of separate prompts. Shared by token, not by text: whatever happens at a seam, the tree is exact.

The longest of the prompts is the tree's trunk: a plain text, for which there are fast kernels. Only what is off the
trunk, mostly short ends of prompts and what was said after them, needs a mask.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_MULTIPLE = 16
"""Lengths are padded to this: attention kernels want aligned masks."""
_MOST_OFF_TRUNK_TOKENS = 256
"""Of one tree: where more would be under a mask, another tree is quicker. Stretches (`stretches.py`) have none."""
_PAIRS_A_TOKEN = 480
"""Under a mask so many pairs of a query and a key take as long as all else that one token takes."""
_PLAIN_PAIRS_A_TOKEN = 1_340
"""The same on the trunk. Both from the steps of a warm start on an H200, set against what was in them."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One step: what was shown and what was said, the end token included where it was said."""

    prompt_ids: NDArray[np.int32]
    action_ids: NDArray[np.int32]


@dataclass(slots=True)
class Tree:
    tokens: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    branches: list[int] = field(default_factory=list)
    """By token: the branch it stands on."""
    offsets: list[int] = field(default_factory=list)
    """By token: its place on that branch."""
    reach: list[list[int]] = field(default_factory=list)
    """By branch and earlier branch: how many tokens of the earlier one the later one stands on."""
    predictors: list[int] = field(default_factory=list)
    """By action token: the tree's token that predicts it."""
    targets: list[int] = field(default_factory=list)
    samples: list[int] = field(default_factory=list)
    """By action token: which of the samples it belongs to."""
    _paths: list[NDArray[np.int32]] = field(default_factory=list)
    _texts: list[NDArray[np.int32]] = field(default_factory=list)

    @property
    def trunk(self) -> NDArray[np.int32]:
        """The longest of the samples, by the tree's tokens."""
        return max(self._paths, key=len)

    @property
    def off_trunk_tokens(self) -> int:
        return len(self.tokens) - len(self.trunk)

    def add(self, number: int, sample: Sample) -> None:
        """Sample `number`, branching off where it first differs from what is here."""
        text = np.concatenate([sample.prompt_ids, sample.action_ids])
        shared, trunk = self._shared(text, len(sample.prompt_ids))
        path = self._grow(text, shared, trunk)
        first = len(sample.prompt_ids) - 1
        self.predictors += path[first:-1].tolist()
        self.targets += sample.action_ids.tolist()
        self.samples += [number] * len(sample.action_ids)

    def has_room_for(self, sample: Sample, most_tokens: int, most_off_trunk_tokens: int) -> bool:
        text = np.concatenate([sample.prompt_ids, sample.action_ids])
        size = len(self.tokens) + len(text) - self._shared(text, len(sample.prompt_ids))[0]
        return size <= most_tokens and size - max(len(self.trunk), len(text)) <= most_off_trunk_tokens

    def _shared(self, text: NDArray[np.int32], prompt_tokens: int) -> tuple[int, int]:
        """The longest beginning in common with an earlier sample, and which one that is.

        Never the whole prompt: each sample has a branch of its own, so that its last prompt token predicts once.
        """
        best, trunk = 0, -1
        for number, other in enumerate(self._texts):
            length = min(len(text), len(other), prompt_tokens - 1)
            differs = np.flatnonzero(text[:length] != other[:length])
            common = int(differs[0]) if len(differs) else length
            if common > best:
                best, trunk = common, number
        return best, trunk

    def _grow(self, text: NDArray[np.int32], shared: int, trunk: int) -> NDArray[np.int32]:
        branch, start = len(self.reach), len(self.tokens)
        stem = self._paths[trunk][:shared] if shared else np.empty(0, dtype=np.int32)
        standing = np.bincount(np.asarray(self.branches, dtype=np.int64)[stem], minlength=branch)
        self.reach.append(standing.tolist())
        fresh = len(text) - shared
        self.tokens += text[shared:].tolist()
        self.positions += range(shared, len(text))
        self.branches += [branch] * fresh
        self.offsets += range(fresh)
        path = np.concatenate([stem, np.arange(start, start + fresh, dtype=np.int32)])
        self._texts.append(text)
        self._paths.append(path)
        return path


def grow(
    samples: Sequence[Sample], most_tokens: int, most_off_trunk_tokens: int = _MOST_OFF_TRUNK_TOKENS
) -> list[Tree]:
    """The samples of an episode as one tree or, where it would become too large, as several."""
    trees: list[Tree] = []
    for number, sample in enumerate(samples):
        if not trees or not trees[-1].has_room_for(sample, most_tokens, most_off_trunk_tokens):
            trees.append(Tree())
        trees[-1].add(number, sample)
    return trees


@dataclass(frozen=True, slots=True)
class TreeBatch:
    """Trees side by side: their trunks, padded on the right, then what is off them, padded likewise."""

    tokens: Tensor
    positions: Tensor
    branches: Tensor
    offsets: Tensor
    reach: Tensor
    trunk_tokens: int
    """So many come first and see what stands before them; the others need a mask."""
    rows: Tensor
    """By action token of the whole batch: its tree."""
    predictors: Tensor
    targets: Tensor

    def sight(self, dtype: torch.dtype) -> Tensor | None:
        """Additive, by tree, query off the trunk and key: zero where the key stands on the query's way to the root.

        None where there are no such queries.
        """
        if self.trunk_tokens == self.tokens.shape[1]:
            return None
        branch_of_query, branch_of_key = self.branches[:, self.trunk_tokens :, None], self.branches[:, None, :]
        rows = torch.arange(len(self.tokens), device=self.tokens.device)[:, None, None]
        seen = self.reach[rows, branch_of_query, branch_of_key]
        offsets = self.offsets.int()
        seen = torch.where(branch_of_query == branch_of_key, offsets[:, self.trunk_tokens :, None] + 1, seen)
        visible = offsets[:, None, :] < seen
        mask = torch.zeros(visible.shape, dtype=dtype, device=visible.device)
        return mask.masked_fill_(~visible, torch.finfo(dtype).min)[:, None]


def batch(trees: Sequence[Tree], device: torch.device) -> TreeBatch:
    trunk_tokens = _padded(max(len(tree.trunk) for tree in trees))
    length = trunk_tokens + _padded(max(tree.off_trunk_tokens for tree in trees))
    most_branches = max(len(tree.reach) for tree in trees)
    tokens = np.zeros((len(trees), length), dtype=np.int64)
    positions, offsets = (np.tile(np.arange(length), (len(trees), 1)) for _ in range(2))
    branches = np.full((len(trees), length), most_branches, dtype=np.int64)
    """Padding is a branch of its own that nobody stands on; each of its tokens sees some other, never nothing."""
    reach = np.zeros((len(trees), most_branches + 1, most_branches + 1), dtype=np.int32)
    predictors = []
    for row, tree in enumerate(trees):
        places = _places(tree, trunk_tokens)
        tokens[row, places], positions[row, places] = tree.tokens, tree.positions
        branches[row, places], offsets[row, places] = tree.branches, tree.offsets
        predictors.append(places[tree.predictors])
        for branch, standing in enumerate(tree.reach):
            reach[row, branch, : len(standing)] = standing
    return TreeBatch(
        tokens=torch.from_numpy(tokens).to(device),
        positions=torch.from_numpy(positions).to(device),
        branches=torch.from_numpy(branches).to(device),
        offsets=torch.from_numpy(offsets).to(device),
        reach=torch.from_numpy(reach).to(device),
        trunk_tokens=trunk_tokens,
        rows=torch.tensor([row for row, tree in enumerate(trees) for _ in tree.targets], device=device),
        predictors=torch.from_numpy(np.concatenate(predictors)).to(device),
        targets=torch.tensor([each for tree in trees for each in tree.targets], device=device),
    )


def shares(trees: Sequence[Tree], most_tokens: int, fixed_tokens: int) -> list[int]:
    """How many of these, whose trunks get shorter, to read at once, batch after batch: what is quickest in all.

    Rows are padded to the longest beside them, so few batches waste tokens; but each takes as long as `fixed_tokens`
    beside what is in it. A batch has at most `most_tokens`, padding included, or is one tree.
    """
    trunks = [_padded(len(tree.trunk)) for tree in trees]
    off_trunks = [_padded(tree.off_trunk_tokens) for tree in trees]
    least, begins = [0.0], [0]
    for end in range(1, len(trees) + 1):
        off_trunk, best = 0, (math.inf, 0)
        for begin in reversed(range(end)):
            rows, trunk, off_trunk = end - begin, trunks[begin], max(off_trunk, off_trunks[begin])
            width = trunk + off_trunk
            if rows > 1 and rows * width > most_tokens:
                break
            row = width + off_trunk * width / _PAIRS_A_TOKEN + trunk * trunk / 2 / _PLAIN_PAIRS_A_TOKEN
            best = min(best, (least[begin] + fixed_tokens + rows * row, begin))
        least.append(best[0])
        begins.append(best[1])
    sizes: list[int] = []
    end = len(trees)
    while end:
        sizes.append(end - begins[end])
        end = begins[end]
    return sizes[::-1]


def _places(tree: Tree, trunk_tokens: int) -> NDArray[np.int64]:
    """By token of a tree: where it stands in its row."""
    is_off = np.ones(len(tree.tokens), dtype=bool)
    is_off[tree.trunk] = False
    places = np.empty(len(tree.tokens), dtype=np.int64)
    places[tree.trunk] = np.arange(len(tree.trunk))
    places[is_off] = trunk_tokens + np.arange(tree.off_trunk_tokens)
    return places


def _padded(size: int) -> int:
    return -(-size // _MULTIPLE) * _MULTIPLE
