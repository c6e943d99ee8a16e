"""What many episodes come to: success, money, regret, each with an interval over scenarios."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import partial

from TokenOptEnv.evaluation import bootstrap, measures
from TokenOptEnv.evaluation.classes import class_of
from TokenOptEnv.evaluation.episodes import EpisodeResult
from TokenOptEnv.evaluation.measures import BUDGETS_NANO_USD, NANO, RATIOS, Column, Measure, Sums
from TokenOptEnv.evaluation.spending import Spending
from TokenOptEnv.evaluation.stopping import Stopping, stopping
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.policies.base import ModelUsage

_DECIMALS = 9
_SHARE_DECIMALS = 6


class Estimate(Frozen):
    """A value and the middle 95 % of what it might have been on other scenarios; None: there is no such value."""

    value: float | None
    low: float | None
    high: float | None


class AtBudget(Frozen):
    """The share of tasks solved for at most so many dollars."""

    usd: float
    success: Estimate


class Summary(Frozen):
    """Of one policy over one group of episodes."""

    policy: str
    group: str
    """`all`, or what the episodes share."""
    scenarios: int
    episodes: int
    solved: int
    measures: dict[Measure, Estimate]
    at_budgets: tuple[AtBudget, ...]
    action_shares: dict[str, float]
    spending_shares: dict[str, float]
    stopping: Stopping
    own_usage: ModelUsage | None
    """Of a policy that asks a real model: all that it used."""

    def value(self, measure: Measure) -> float | None:
        return self.measures[measure].value


class Dimension(StrEnum):
    ALL = "all"
    FAMILY = "family"
    DIFFICULTY = "difficulty"
    SPLIT = "split"
    CLASS = "class"


_GROUP_OF: Mapping[Dimension, Callable[[EpisodeResult], str]] = {
    Dimension.ALL: lambda result: "all",
    Dimension.FAMILY: lambda result: result.family,
    Dimension.DIFFICULTY: lambda result: result.difficulty.value,
    Dimension.SPLIT: lambda result: result.split,
    Dimension.CLASS: lambda result: class_of(result.scenario_id),
}


def summaries(results: Sequence[EpisodeResult], dimension: Dimension = Dimension.ALL) -> tuple[Summary, ...]:
    """By policy and group, in order of first appearance, so that a table follows the order of its suite.

    All policies and groups share one order of scenarios, and so the draws.
    """
    scenario_ids = sorted({result.scenario_id for result in results})
    found: dict[tuple[str, str], list[EpisodeResult]] = {}
    for result in results:
        found.setdefault((result.policy, _GROUP_OF[dimension](result)), []).append(result)
    return tuple(_summary(policy, group, members, scenario_ids) for (policy, group), members in found.items())


def _summary(policy: str, group: str, results: Sequence[EpisodeResult], scenario_ids: Sequence[str]) -> Summary:
    by_scenario: dict[str, list[EpisodeResult]] = {}
    for result in results:
        by_scenario.setdefault(result.scenario_id, []).append(result)
    total, resampled = measures.sums(results), _resampled(by_scenario, scenario_ids)
    return Summary(
        policy=policy,
        group=group,
        scenarios=len(by_scenario),
        episodes=len(results),
        solved=measures.count_of(total, Column.SOLVED),
        measures={
            measure: _estimate(partial(measures.ratio_of, ratio=ratio), total, resampled)
            for measure, ratio in RATIOS.items()
        },
        at_budgets=tuple(
            AtBudget(
                usd=nano_usd / NANO,
                success=_estimate(partial(measures.budget_share, number=number), total, resampled),
            )
            for number, nano_usd in enumerate(BUDGETS_NANO_USD)
        ),
        action_shares=_action_shares(results),
        spending_shares=_spending_shares(results),
        stopping=stopping(results),
        own_usage=_usage(results),
    )


def _resampled(by_scenario: Mapping[str, Sequence[EpisodeResult]], scenario_ids: Sequence[str]) -> list[Sums]:
    """The sums under each draw. A group takes its part of the draw of the whole suite."""
    held = [place for place, scenario_id in enumerate(scenario_ids) if scenario_id in by_scenario]
    packed = [measures.packed(measures.sums(by_scenario[scenario_ids[place]])) for place in held]
    draws: Iterable[Sequence[int]] = bootstrap.resamples(len(scenario_ids))
    if len(held) < len(scenario_ids):
        draws = ([counts[place] for place in held] for counts in draws)
    return [measures.unpacked(bootstrap.dot(drawn, packed)) for drawn in draws]


def _estimate(measured: Callable[[Sums], float | None], total: Sums, resampled: Sequence[Sums]) -> Estimate:
    low, high = bootstrap.interval([measured(each) for each in resampled]) or (None, None)
    return Estimate(value=_rounded(measured(total)), low=_rounded(low), high=_rounded(high))


def _action_shares(results: Iterable[EpisodeResult]) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for result in results:
        counts.update(result.action_counts)
    return _shares(dict(sorted(counts.items())))


def _spending_shares(results: Sequence[EpisodeResult]) -> dict[str, float]:
    names = Spending.model_fields
    spent = {name: sum(getattr(result.spending, name) for result in results) for name in names}
    return _shares({name.removesuffix("_nano_usd"): nano_usd for name, nano_usd in spent.items()})


def _shares(amounts: Mapping[str, int]) -> dict[str, float]:
    whole = sum(amounts.values()) or 1
    return {name: round(amount / whole, _SHARE_DECIMALS) for name, amount in amounts.items()}


def _usage(results: Sequence[EpisodeResult]) -> ModelUsage | None:
    used = [result.own_usage for result in results if result.own_usage is not None]
    return ModelUsage.total(*used) if used else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DECIMALS)
