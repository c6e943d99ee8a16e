"""What an episode's tokens are owed of what it was worth.

    by episode   its worth less its group's mean, the same for every token
    by branch    the same sum, each part of it at the token where it was won or lost

Episodes of a group play one case in one world, and the environment is deterministic: as long as two have said the same,
they stand at the same place. So a group is a tree. At a token, those who said it are worth something on average, and so
are all who stood before it, whatever they said next; the difference is that token's. Along an episode these differences
add up to its worth less its group's mean. A token that everyone said is owed nothing, and neither is one that was said
where nobody else has been: nothing is known of what else could have been said there. Shared out evenly instead, most of
an advantage falls on tokens that had no part in it, and with a few hundred episodes a step that noise is all there is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_ALIKE = 1e-6
"""Worths that differ by less are equal: rounding must not become an advantage."""

Credit = NDArray[np.float32]
"""By token."""


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
