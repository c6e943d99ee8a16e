"""What an episode's tokens are owed of what it was worth.

    by episode   its worth less its group's mean, the same for every token
    by branch    the same sum, each part of it at the token where it was won or lost

Episodes of a group play one case in one world, and the environment is deterministic: as long as two have said the same,
they stand at the same place. So a group is a tree. At a token, those who said it are worth something on average, and so
are all who stood before it, whatever they said next; the difference is that token's. Along an episode these differences
add up to its worth less its group's mean. A token that everyone said is owed nothing, and neither is one that was said
where nobody else has been: nothing is known of what else could have been said there. Shared out evenly instead, most of
an advantage falls on tokens that had no part in it, which is noise.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.prefix_tree import Sample
from training.rollouts import Played

_ALIKE = 1e-6
"""Worths that differ by less are equal: rounding must not become an advantage."""

Credit = NDArray[np.float32]
"""By token."""


def worth(total_return: float, sce: float, chosen: argparse.Namespace) -> float:
    return float((1.0 - chosen.sce_share) * total_return + chosen.sce_share * sce)


def worth_of(played: Played, chosen: argparse.Namespace) -> float:
    """Refusals apart; as it was drawn, or on average over the draws that might have been."""
    ended = played.ended
    if chosen.worth == "expected":
        return worth(ended.expected.total_return, ended.expected.sce, chosen)
    return worth(ended.total_return, ended.sce, chosen)


@dataclass(frozen=True, slots=True)
class Owed:
    """Steps of an episode or of a group that teach something; by step the advantage and the weight of its tokens."""

    samples: list[Sample]
    advantages: list[Credit]
    weights: list[float]


def owed_by_episode(played: Sequence[Played], chosen: argparse.Namespace) -> list[Owed]:
    """All tokens of an episode share its advantage, and a weight of one over the number of episodes."""
    worths = [worth_of(each, chosen) - chosen.refusal_cost * each.ended.refused for each in played]
    advantages = by_episode(worths, chosen.group_size, chosen.least_advantage)
    kept = [(each, advantage) for each, advantage in zip(played, advantages, strict=True) if advantage is not None]
    found = []
    for each, advantage in kept:
        every = [tapered(np.full(len(bold), advantage, dtype=np.float32), bold) for bold in each.boldness]
        found.append(Owed(each.samples, every, [1.0 / (sum(map(len, every)) * len(kept))] * len(every)))
    return found


def owed_by_branch(played: Sequence[Played], chosen: argparse.Namespace) -> list[Owed]:
    """By group, steps at which something was decided, each once, weighing as much as all who took it.

    A refusal needs no comparison, being known at once: its cost is charged to every token of the step that was refused.
    All tokens that were said share a weight of one, whether they teach anything or not: the less is still decided by
    chance, the less is learnt. Shared among those that do, ever fewer would be given ever more.
    """
    worths = [worth_of(each, chosen) for each in played]
    scale = spread(worths, chosen.group_size)
    tokens = sum(len(sample.action_ids) for each in played for sample in each.samples)
    found: list[Owed] = []
    for first in range(0, len(played), chosen.group_size):
        group = played[first : first + chosen.group_size]
        said = [np.concatenate([sample.action_ids for sample in each.samples]) for each in group]
        taken: dict[tuple[bytes, bytes, bytes], tuple[Sample, Credit, int]] = {}
        for each, credit in zip(group, by_branch(said, worths[first : first + chosen.group_size]), strict=True):
            ends = np.cumsum([len(sample.action_ids) for sample in each.samples])[:-1]
            steps = zip(each.samples, np.split(credit, ends), each.boldness, each.refused, strict=True)
            for sample, part, bold, was_refused in steps:
                owed = ((part - chosen.refusal_cost * was_refused) / scale).astype(np.float32)
                name = sample.prompt_ids.tobytes(), sample.action_ids.tobytes(), owed.tobytes()
                taken[name] = sample, tapered(owed, bold), taken[name][2] + 1 if name in taken else 1
        kept = [
            taken[name]
            for name in sorted(taken)  # those with one prompt side by side, where a tree has it once
            if taken[name][2] * np.abs(taken[name][1]).max() > chosen.least_advantage
        ]
        if kept:
            samples, owed_each, times = zip(*kept, strict=True)
            found.append(Owed(list(samples), list(owed_each), [each / tokens for each in times]))
    return found


def tapered(credit: Credit, boldness: NDArray[np.float32]) -> Credit:
    """What made things worse counts as often as the policy itself would have said it, and what was better in full.

    Bold draws mostly are worse. Were each of them unlearnt as if the policy were given to it, little else would be
    learnt, and nothing gained by it: it is hardly ever said.
    """
    return np.where(credit < 0.0, credit * np.exp(-np.maximum(boldness, 0.0)), credit).astype(np.float32)


def spread(worths: Sequence[float], group_size: int) -> float:
    """Of the whole batch about its groups' means, groups that ended alike left out.

    Advantages are scaled by this and not by each group's own: where all of a group fail, their returns differ by
    hundredths for tidy process, and scaling those up to one would teach farming.
    """
    centred, differs = _centred(worths, group_size)
    return float(np.sqrt((centred[differs] ** 2).mean())) if differs.any() else 1.0


def by_episode(worths: Sequence[float], group_size: int, least: float = 0.0) -> list[float | None]:
    """None where its whole group ended alike, or where it is below `least` either way."""
    centred, differs = _centred(worths, group_size)
    return [
        float(advantage) if is_kept and abs(advantage) >= least else None
        for row, is_kept in zip(centred / spread(worths, group_size), differs, strict=True)
        for advantage in row
    ]


def by_branch(said: Sequence[NDArray[np.int32]], worths: Sequence[float]) -> list[Credit]:
    """Of one group: `said` are all action tokens of each episode, one after the other."""
    credits = [np.zeros(len(each), dtype=np.float32) for each in said]
    standing = [(0, list(range(len(said))))]
    while standing:
        place, here = standing.pop()
        mean = float(np.mean([worths[each] for each in here]))
        branches: defaultdict[int, list[int]] = defaultdict(list)
        for each in here:
            if place < len(said[each]):
                branches[int(said[each][place])].append(each)
        for going in branches.values():
            won = float(np.mean([worths[each] for each in going])) - mean
            for each in going:
                credits[each][place] = won if abs(won) > _ALIKE else 0.0
            if len(going) > 1:
                standing.append((place + 1, going))
    return credits


def _centred(worths: Sequence[float], group_size: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    groups = np.asarray(worths, dtype=np.float64).reshape(-1, group_size)
    return groups - groups.mean(axis=1, keepdims=True), np.ptp(groups, axis=1) > _ALIKE
