"""What is measured, and how: each measure is one sum over episodes divided by another.

Because all of them are, they can be bootstrapped alike: resample scenarios, add up their sums, divide. Sums are whole
numbers (nano-dollars, millionths), so they are the same on every machine and in every order; and all sums of a scenario
travel in one large integer, a lane each, so that a resample adds them up in one go.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import log
from typing import Final

from TokenOptEnv.evaluation.episodes import EpisodeResult

BUDGETS_NANO_USD: Final = (2_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000, 100_000_000)
"""The dollar budgets at which success is reported: the range that a task costs here, in equal ratios."""
CHEAPEST_NANO_USD: Final = 1_000_000
DEAREST_NANO_USD: Final = 100_000_000
"""The corners of the plane of cost and success that volumes are measured in: from $0.001 to $0.1 a task."""
NANO: Final = 1_000_000_000
_MICRO: Final = 1_000_000


class Column(StrEnum):
    """What is added up over episodes."""

    EPISODES = "episodes"
    SOLVED = "solved"
    TOTAL_RETURN = "total_return"
    SCE = "sce"
    USD = "usd"
    COLD_USD = "cold_usd"
    USD_ABOVE = "usd_above"
    """Of solved tasks: what they cost above the reference."""
    VOLUME = "volume"
    REFUSED = "refused"
    STEPS = "steps"


_UNITS: Final[dict[Column, int]] = {
    Column.TOTAL_RETURN: _MICRO,
    Column.SCE: _MICRO,
    Column.VOLUME: _MICRO,
    Column.USD: NANO,
    Column.COLD_USD: NANO,
    Column.USD_ABOVE: NANO,
}
"""What a column is counted in; the others count things."""


class Measure(StrEnum):
    SUCCESS = "success"
    RETURN = "return"
    SCE = "sce"
    USD_PER_TASK = "usd_per_task"
    COLD_USD_PER_TASK = "cold_usd_per_task"
    USD_PER_SOLVED = "usd_per_solved"
    REGRET_USD = "regret_usd"
    HYPERVOLUME = "hypervolume"
    STEPS_PER_TASK = "steps_per_task"
    REFUSED_SHARE = "refused_share"


@dataclass(frozen=True, slots=True)
class Ratio:
    over: Column
    by: Column


RATIOS: Final[dict[Measure, Ratio]] = {
    Measure.SUCCESS: Ratio(Column.SOLVED, Column.EPISODES),
    Measure.RETURN: Ratio(Column.TOTAL_RETURN, Column.EPISODES),
    Measure.SCE: Ratio(Column.SCE, Column.EPISODES),
    Measure.USD_PER_TASK: Ratio(Column.USD, Column.EPISODES),
    Measure.COLD_USD_PER_TASK: Ratio(Column.COLD_USD, Column.EPISODES),
    Measure.USD_PER_SOLVED: Ratio(Column.USD, Column.SOLVED),
    Measure.REGRET_USD: Ratio(Column.USD_ABOVE, Column.SOLVED),
    Measure.HYPERVOLUME: Ratio(Column.VOLUME, Column.EPISODES),
    Measure.STEPS_PER_TASK: Ratio(Column.STEPS, Column.EPISODES),
    Measure.REFUSED_SHARE: Ratio(Column.REFUSED, Column.STEPS),
}

Sums = tuple[int, ...]
"""One number for each column, then the tasks solved within each budget."""
_WIDTH: Final = len(Column) + len(BUDGETS_NANO_USD)
_PLACES: Final = {column: place for place, column in enumerate(Column)}
_LANE_BITS: Final = 64
_LANE: Final = 1 << _LANE_BITS


def count_of(total: Sums, column: Column) -> int:
    return total[_PLACES[column]]


def ratio_of(total: Sums, ratio: Ratio) -> float | None:
    """None where there is nothing to divide by: where nothing was solved, a solution has no price."""
    below = total[_PLACES[ratio.by]] * _UNITS.get(ratio.over, 1)
    return total[_PLACES[ratio.over]] / below if below else None


def budget_share(total: Sums, number: int) -> float | None:
    """The share of tasks solved within the budget of this number."""
    episodes = total[_PLACES[Column.EPISODES]]
    return total[len(Column) + number] / episodes if episodes else None


def volume(success: bool, cost_nano_usd: int) -> float:
    """The share of the plane that one task dominates: 1 if solved for nothing, 0 if not solved within its corner.

    Averaged over tasks this is the area under the curve of success against the logarithm of a budget.
    """
    if not success:
        return 0.0
    span = log(DEAREST_NANO_USD / CHEAPEST_NANO_USD)
    return min(1.0, max(0.0, log(DEAREST_NANO_USD / max(1, cost_nano_usd)) / span))


def sums(results: Iterable[EpisodeResult]) -> Sums:
    rows = [_row(result) for result in results]
    return tuple(map(sum, zip(*rows, strict=True))) if rows else (0,) * _WIDTH


def packed(values: Sums) -> int:
    return sum(value << (_LANE_BITS * lane) for lane, value in enumerate(values))


def unpacked(number: int) -> Sums:
    """Lanes may hold negative numbers: one that reaches half a lane has borrowed from the next."""
    values = []
    for _ in range(_WIDTH):
        low = number & (_LANE - 1)
        if low >= _LANE >> 1:
            low -= _LANE
        values.append(low)
        number = (number - low) >> _LANE_BITS
    return tuple(values)


def _row(result: EpisodeResult) -> Sums:
    cost = result.cost_nano_usd
    return (
        1,
        int(result.success),
        round(result.total_return * _MICRO),
        round(result.sce * _MICRO),
        cost,
        result.cold_nano_usd,
        cost - result.reference_nano_usd if result.success else 0,
        round(volume(result.success, cost) * _MICRO),
        result.refused,
        result.steps,
        *(int(result.success and cost <= budget) for budget in BUDGETS_NANO_USD),
    )
