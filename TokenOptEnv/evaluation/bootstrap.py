"""Intervals and paired tests by resampling scenarios.

Episodes of one scenario are alike, so whole scenarios are drawn, never episodes. Every policy and every group is
judged on the same draws: then differences between them are as sharp as the pairing allows, and a draw is made once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import mul
from typing import TypeVar

from TokenOptEnv.streams import Stream

RESAMPLES = 1_000
CONFIDENCE = 0.95
_LEAST_VALID = 0.5
"""An interval needs so large a share of resamples in which there is something to divide by."""

Counts = tuple[int, ...]
"""By scenario: how often it was drawn."""
Signs = tuple[int, ...]
N = TypeVar("N", int, float)


@lru_cache(maxsize=4)
def resamples(scenarios: int, times: int = RESAMPLES) -> tuple[Counts, ...]:
    return tuple(_drawn(Stream("bootstrap", scenarios, number), scenarios) for number in range(times))


def _drawn(stream: Stream, scenarios: int) -> Counts:
    counts = [0] * scenarios
    for _ in range(scenarios):
        counts[stream.integer(0, scenarios - 1)] += 1
    return tuple(counts)


@lru_cache(maxsize=4)
def sign_flips(scenarios: int, times: int = RESAMPLES) -> tuple[Signs, ...]:
    """Each scenario's difference, as it is or turned round."""
    digits = -(-scenarios // 4)
    flips = []
    for number in range(times):
        bits = int(Stream("sign flip", scenarios, number).hex(digits), 16)
        flips.append(tuple(1 if bits >> place & 1 else -1 for place in range(scenarios)))
    return tuple(flips)


def dot(weights: Sequence[int], values: Sequence[N]) -> N:
    total: N = sum(map(mul, weights, values))
    return total


def interval(values: Sequence[float | None]) -> tuple[float, float] | None:
    """The middle 95 % of the resampled values."""
    known = sorted(value for value in values if value is not None)
    if not known or len(known) < _LEAST_VALID * len(values):
        return None
    tail = (1.0 - CONFIDENCE) / 2.0
    last = len(known) - 1
    return known[round(tail * last)], known[round((1.0 - tail) * last)]


def sign_flip_p(differences: Sequence[float]) -> float:
    """How often chance alone would set two policies as far apart, on these scenarios, as they are."""
    seen = abs(sum(differences)) * (1.0 - 1e-9)
    flips = sign_flips(len(differences))
    as_far = sum(abs(dot(signs, differences)) >= seen for signs in flips)
    return (as_far + 1) / (len(flips) + 1)
