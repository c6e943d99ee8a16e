"""Levels shared by models whose figures lie close together.

A parameter for each figure would fit everything and say nothing. With half as many levels as figures, models
within the sampling error of their benchmark (2.2 points on SWE-bench's 500 tasks) share one. The division into
levels with the least sum of squares is found exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from statistics import fmean


def divide(values: Mapping[str, float], levels: int) -> tuple[tuple[str, ...], ...]:
    """The names in `levels` groups of neighbouring values, lowest first."""
    names = sorted(values, key=lambda name: (values[name], name))
    ordered = [values[name] for name in names]
    best: list[list[tuple[float, tuple[int, ...]]]] = [[(_spread(ordered[:end]), ()) for end in range(len(names) + 1)]]
    for _ in range(levels - 1):
        before = best[-1]
        best.append(
            [
                min((before[cut][0] + _spread(ordered[cut:end]), (*before[cut][1], cut)) for cut in range(end + 1))
                for end in range(len(names) + 1)
            ]
        )
    edges = (0, *best[-1][-1][1], len(names))
    groups = (tuple(names[low:high]) for low, high in pairwise(edges))
    return tuple(group for group in groups if group)


def _spread(values: list[float]) -> float:
    if not values:
        return 0.0
    mean = fmean(values)
    return sum((value - mean) ** 2 for value in values)
