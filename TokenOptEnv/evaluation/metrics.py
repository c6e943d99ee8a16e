"""What many episodes come to: success, money, regret. Sums are whole nano-dollars; only what is shown is divided."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from TokenOptEnv.evaluation.episodes import EpisodeResult
from TokenOptEnv.models.base import Frozen

_DECIMALS = 6
_USD_DECIMALS = 9
_NANO = 1_000_000_000


class Summary(Frozen):
    """Of one policy over one group of episodes; `group` is "all", or the family or difficulty they share."""

    policy: str
    group: str
    episodes: int
    solved: int
    success_rate: float
    mean_return: float
    mean_usd: float
    usd_per_solved: float | None
    """All the money spent, failures included, by tasks solved; None where none was."""
    mean_sce: float
    regret_usd: float | None
    """What a solved task cost above the reference, on average; None where none was solved."""
    refused_share: float
    """Of all actions."""


def summarise(policy: str, group: str, results: Sequence[EpisodeResult]) -> Summary:
    episodes = len(results)
    solved = [result for result in results if result.success]
    spent = sum(result.cost_nano_usd for result in results)
    above = sum(result.cost_nano_usd - result.reference_nano_usd for result in solved)
    return Summary(
        policy=policy,
        group=group,
        episodes=episodes,
        solved=len(solved),
        success_rate=_mean(len(solved), episodes),
        mean_return=_mean(sum(result.total_return for result in results), episodes),
        mean_usd=_usd(spent, episodes) or 0.0,
        usd_per_solved=_usd(spent, len(solved)),
        mean_sce=_mean(sum(result.sce for result in results), episodes),
        regret_usd=_usd(above, len(solved)),
        refused_share=_mean(sum(result.refused for result in results), sum(result.steps for result in results)),
    )


def by_policy(results: Iterable[EpisodeResult]) -> tuple[Summary, ...]:
    return _grouped(results, lambda result: "all")


def by_family(results: Iterable[EpisodeResult]) -> tuple[Summary, ...]:
    return _grouped(results, lambda result: result.family)


def by_difficulty(results: Iterable[EpisodeResult]) -> tuple[Summary, ...]:
    return _grouped(results, lambda result: result.difficulty.value)


def _grouped(results: Iterable[EpisodeResult], group: Callable[[EpisodeResult], str]) -> tuple[Summary, ...]:
    """In order of first appearance, so that a table follows the order of its suite."""
    found: dict[tuple[str, str], list[EpisodeResult]] = {}
    for result in results:
        found.setdefault((result.policy, group(result)), []).append(result)
    return tuple(summarise(policy, name, members) for (policy, name), members in found.items())


def _mean(total: float, count: int) -> float:
    return round(total / count, _DECIMALS) if count else 0.0


def _usd(nano_usd: int, count: int) -> float | None:
    return round(nano_usd / _NANO / count, _USD_DECIMALS) if count else None
