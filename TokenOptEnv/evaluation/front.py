"""The Pareto front of cost and success, and how much of the plane lies under it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log
from typing import NamedTuple

from TokenOptEnv.evaluation.measures import CHEAPEST_NANO_USD, DEAREST_NANO_USD

_NANO = 1_000_000_000
_DECIMALS = 6


class Point(NamedTuple):
    name: str
    usd_per_task: float
    success: float


def front(points: Iterable[Point]) -> tuple[Point, ...]:
    """Those that solve something and that nobody beats in both, the cheapest first; of equals, the first by name."""
    best: list[Point] = []
    for point in sorted(points, key=lambda each: (each.usd_per_task, -each.success, each.name)):
        if point.success > (best[-1].success if best else 0.0):
            best.append(point)
    return tuple(best)


def hypervolume(points: Iterable[Point]) -> float:
    """The share of the plane, from $0.001 to $0.1 a task on a logarithmic scale, that the points dominate."""
    cheapest, dearest = CHEAPEST_NANO_USD / _NANO, DEAREST_NANO_USD / _NANO
    inside = [point for point in front(points) if point.usd_per_task < dearest]
    edges = [max(cheapest, point.usd_per_task) for point in inside] + [dearest]
    strips = (point.success * log(right / left) for point, left, right in zip(inside, edges, edges[1:], strict=False))
    return round(sum(strips) / log(dearest / cheapest), _DECIMALS)


def contributions(points: Sequence[Point]) -> dict[str, float]:
    """By name: how much of the plane would be lost without it."""
    whole = hypervolume(points)
    return {
        point.name: round(whole - hypervolume(other for other in points if other != point), _DECIMALS)
        for point in points
    }
