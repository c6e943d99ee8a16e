"""The steps of an episode, laid over one another: what their prompts share is computed once.

A memory-true prompt is built anew at each step, yet most of it stood in the step before: the head never changes, and
items are appended more often than dropped. Written one below the other, the prompts of an easy episode take some
14,000 tokens; as a tree, in which a step branches off where it first differs from an earlier one, some 4,000. Every
token keeps the position it has in its own prompt and attends to exactly the tokens before it there, so losses and
gradients are those of separate prompts. Shared by token, not by text: whatever happens at a seam, the tree is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_MULTIPLE = 16
"""Lengths are padded to this: attention kernels want aligned masks."""


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
    def is_plain(self) -> bool:
        """One sample alone: the mask of a plain text, for which there are faster kernels."""
        return len(self.reach) == 1

    def add(self, number: int, sample: Sample) -> None:
        """Sample `number`, branching off where it first differs from what is here."""
        text = np.concatenate([sample.prompt_ids, sample.action_ids])
        shared, trunk = self._shared(text, len(sample.prompt_ids))
        path = self._grow(text, shared, trunk)
        first = len(sample.prompt_ids) - 1
        self.predictors += path[first:-1].tolist()
        self.targets += sample.action_ids.tolist()
        self.samples += [number] * len(sample.action_ids)

    def new_tokens(self, sample: Sample) -> int:
        """How much longer the tree would become."""
        text = np.concatenate([sample.prompt_ids, sample.action_ids])
        return len(text) - self._shared(text, len(sample.prompt_ids))[0]

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


def grow(samples: Sequence[Sample], most_tokens: int) -> list[Tree]:
    """The samples of an episode as one tree or, where it would become too large, as several."""
    trees: list[Tree] = []
    for number, sample in enumerate(samples):
        if not trees or len(trees[-1].tokens) + trees[-1].new_tokens(sample) > most_tokens:
            trees.append(Tree())
        trees[-1].add(number, sample)
    return trees


@dataclass(frozen=True, slots=True)
class TreeBatch:
    """Trees side by side, padded on the right."""

    tokens: Tensor
    positions: Tensor
    branches: Tensor
    offsets: Tensor
    reach: Tensor
    rows: Tensor
    """By action token of the whole batch: its tree."""
    predictors: Tensor
    targets: Tensor
    is_plain: bool
    """Of one sample each."""

    def mask(self, dtype: torch.dtype) -> Tensor | None:
        """Additive, by tree, query and key: zero where the key stands on the query's way to the root.

        None where that is everything before it: what pads a text stands after it and is not seen.
        """
        if self.is_plain:
            return None
        branch_of_query, branch_of_key = self.branches[:, :, None], self.branches[:, None, :]
        rows = torch.arange(len(self.tokens), device=self.tokens.device)[:, None, None]
        seen = self.reach[rows, branch_of_query, branch_of_key]
        offsets = self.offsets.int()
        seen = torch.where(branch_of_query == branch_of_key, offsets[:, :, None] + 1, seen)
        visible = offsets[:, None, :] < seen
        mask = torch.zeros(visible.shape, dtype=dtype, device=visible.device)
        return mask.masked_fill_(~visible, torch.finfo(dtype).min)[:, None]


def batch(trees: Sequence[Tree], device: torch.device) -> TreeBatch:
    longest = max(len(tree.tokens) for tree in trees)
    length = -(-longest // _MULTIPLE) * _MULTIPLE
    most_branches = max(len(tree.reach) for tree in trees)
    tokens, positions, offsets = (np.zeros((len(trees), length), dtype=np.int64) for _ in range(3))
    branches = np.full((len(trees), length), most_branches, dtype=np.int64)
    reach = np.zeros((len(trees), most_branches + 1, most_branches + 1), dtype=np.int32)
    for row, tree in enumerate(trees):
        size = len(tree.tokens)
        tokens[row, :size], positions[row, :size] = tree.tokens, tree.positions
        branches[row, :size], offsets[row, :size] = tree.branches, tree.offsets
        offsets[row, size:] = np.arange(length - size)
        """Padding is a branch of its own that nobody stands on; each of its tokens sees some other, never nothing."""
        positions[row, size:] = np.arange(size, length)
        for branch, standing in enumerate(tree.reach):
            reach[row, branch, : len(standing)] = standing
    return TreeBatch(
        tokens=torch.from_numpy(tokens).to(device),
        positions=torch.from_numpy(positions).to(device),
        branches=torch.from_numpy(branches).to(device),
        offsets=torch.from_numpy(offsets).to(device),
        reach=torch.from_numpy(reach).to(device),
        rows=torch.tensor([row for row, tree in enumerate(trees) for _ in tree.targets], device=device),
        predictors=torch.tensor([each for tree in trees for each in tree.predictors], device=device),
        targets=torch.tensor([each for tree in trees for each in tree.targets], device=device),
        is_plain=all(tree.is_plain for tree in trees),
    )
