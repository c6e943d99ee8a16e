"""Would other scenarios have ranked the policies alike? And does the reward that is trained on rank them as SCE does?

The scenarios of a run are cut in two at random, again and again, and each policy is ranked on both parts. Only pairs
that the whole run sets apart are looked at: of two policies that it cannot tell apart, no order is claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import sqrt
from statistics import median

from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation import bootstrap, comparisons
from TokenOptEnv.evaluation.episodes import EpisodeResult
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.streams import Stream

_DECIMALS = 4


class Stability(Frozen):
    policies: int
    scenarios: int
    pairs: int
    sure_pairs: int
    """Set apart by a paired test over all scenarios."""
    halvings: int
    median_tau: float
    """Kendall's, over the sure pairs: the ranking on one half of the scenarios with that on the other."""
    least_tau: float
    return_rank_correlation: float
    """Spearman's, of mean return with mean SCE over the policies."""


def stability(results: Sequence[EpisodeResult], halvings: int) -> Stability:
    """Of policies that all played the same scenarios."""
    sce, returns = _by_scenario(results)
    names = sorted(sce)
    scenarios = len(next(iter(sce.values()), ()))
    if len(names) < 3 or scenarios < 4:
        raise BadInput(
            f"{len(names)} policies on {scenarios} scenarios make no ranking to cut in two;"
            " let 3 policies or more play 4 scenarios or more"
        )
    pairs = list(combinations(names, 2))
    sure = [(one, other) for one, other in pairs if _are_set_apart(sce[one], sce[other])]
    if not sure:
        raise BadInput(f"no two of {len(names)} policies are set apart by {scenarios} scenarios; play more of them")
    taus = [_tau(sure, sce, scenarios, number) for number in range(halvings)]
    return Stability(
        policies=len(names),
        scenarios=scenarios,
        pairs=len(pairs),
        sure_pairs=len(sure),
        halvings=halvings,
        median_tau=round(median(taus), _DECIMALS),
        least_tau=round(min(taus), _DECIMALS),
        return_rank_correlation=round(
            rank_correlation([sum(returns[name]) for name in names], [sum(sce[name]) for name in names]), _DECIMALS
        ),
    )


def told(found: Stability) -> tuple[str, ...]:
    return (
        f"{found.policies} contestants on {found.scenarios} scenarios:"
        f" {found.sure_pairs} of {found.pairs} pairs are set apart (p under {comparisons.SURE:g})",
        f"over {found.halvings} random halvings, Kendall's tau of one half with the other, of those pairs:"
        f" median {found.median_tau:.3f}, least {found.least_tau:.3f}",
        f"Spearman's rank correlation of mean return with SCE: {found.return_rank_correlation:.3f}",
    )


def rank_correlation(left: Sequence[float], right: Sequence[float]) -> float:
    """Spearman's: the correlation of ranks, where those that tie share theirs. 0 where one side has no order."""
    one, other = _ranks(left), _ranks(right)
    middle = (len(one) - 1) / 2
    over = sum((a - middle) * (b - middle) for a, b in zip(one, other, strict=True))
    spread = sqrt(sum((a - middle) ** 2 for a in one) * sum((b - middle) ** 2 for b in other))
    return over / spread if spread else 0.0


def _ranks(values: Sequence[float]) -> list[float]:
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2 for value in values
    ]


def _by_scenario(results: Sequence[EpisodeResult]) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """By policy: mean SCE and mean return of each scenario, in the same order for all."""
    held: dict[str, dict[str, list[EpisodeResult]]] = {}
    for result in results:
        held.setdefault(result.policy, {}).setdefault(result.scenario_id, []).append(result)
    shared = sorted(set.intersection(*(set(each) for each in held.values()))) if held else []
    sce = {name: [_mean([e.sce for e in each[key]]) for key in shared] for name, each in held.items()}
    returns = {name: [_mean([e.total_return for e in each[key]]) for key in shared] for name, each in held.items()}
    return sce, returns


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _are_set_apart(one: Sequence[float], other: Sequence[float]) -> bool:
    gains = [a - b for a, b in zip(one, other, strict=True)]
    return any(gains) and bootstrap.sign_flip_p(gains) < comparisons.SURE


def _tau(sure: Sequence[tuple[str, str]], sce: dict[str, list[float]], scenarios: int, number: int) -> float:
    order = Stream("halves", scenarios, number).shuffled(range(scenarios))
    halves = (order[: scenarios // 2], order[scenarios // 2 :])
    sums = [{name: sum(values[place] for place in half) for name, values in sce.items()} for half in halves]
    one, other = ([(half[a] > half[b]) - (half[a] < half[b]) for a, b in sure] for half in sums)
    return sum(a * b for a, b in zip(one, other, strict=True)) / len(sure)
