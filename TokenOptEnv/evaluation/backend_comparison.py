"""The same policies on two backends: does the ranking hold, and how far apart is each?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from TokenOptEnv.evaluation import episodes
from TokenOptEnv.evaluation.episodes import EpisodeResult
from TokenOptEnv.evaluation.sensitivity import kendall_tau
from TokenOptEnv.evaluation.suite import Job, RunOptions
from TokenOptEnv.local_env import LocalEnv
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.simulators.backend import Backend

_DECIMALS = 6
_NANO = 1e9


class Standing(Frozen):
    """Means over a policy's episodes on one backend."""

    rank: int
    success: float
    sce: float
    total_return: float
    usd: float


class Gap(Frozen):
    policy: str
    a: Standing
    b: Standing
    agreement: float
    """The share of episodes that end alike on both, solved or not."""


class BackendComparison(Frozen):
    a: str
    b: str
    episodes: int
    """Of each policy, on each backend."""
    tau: float | None
    """Kendall's, between the two rankings by SCE, then return; None where either has only one place."""
    gaps: tuple[Gap, ...]
    """The best on `a` first."""


class Pair(NamedTuple):
    """One episode, on both."""

    a: EpisodeResult
    b: EpisodeResult


def play_pairs(
    jobs: Sequence[Job], a: Backend | None, b: Backend | None, options: RunOptions, at_once: int
) -> Iterator[Pair]:
    """`at_once` threads: a live backend mostly waits, and the engine's own work is little beside that."""

    def played(job: Job) -> Pair:
        return Pair(
            *(
                episodes.play(
                    job.policy, job.scenario_id, job.seed, LocalEnv(backend=side, **options.model_dump())
                ).result
                for side in (a, b)
            )
        )

    with ThreadPoolExecutor(at_once) as crew:
        futures = [crew.submit(played, job) for job in jobs]
        try:
            for future in futures:
                yield future.result()
        finally:
            crew.shutdown(wait=True, cancel_futures=True)


def compared(name_a: str, name_b: str, pairs: Sequence[Pair]) -> BackendComparison:
    names = list(dict.fromkeys(pair.a.policy for pair in pairs))
    of = {name: [pair for pair in pairs if pair.a.policy == name] for name in names}
    standings_a = _standings({name: [pair.a for pair in held] for name, held in of.items()})
    standings_b = _standings({name: [pair.b for pair in held] for name, held in of.items()})
    return BackendComparison(
        a=name_a,
        b=name_b,
        episodes=len(pairs) // len(names),
        tau=kendall_tau([_score(standings_a[name]) for name in names], [_score(standings_b[name]) for name in names]),
        gaps=tuple(
            Gap(
                policy=name,
                a=standings_a[name],
                b=standings_b[name],
                agreement=_mean([float(pair.a.success == pair.b.success) for pair in of[name]]),
            )
            for name in sorted(names, key=lambda each: (standings_a[each].rank, each))
        ),
    )


def _standings(results: dict[str, list[EpisodeResult]]) -> dict[str, Standing]:
    """Policies that score the same share a rank."""
    unranked = {
        name: Standing(
            rank=0,
            success=_mean([float(each.success) for each in held]),
            sce=_mean([each.sce for each in held]),
            total_return=_mean([each.total_return for each in held]),
            usd=_mean([each.cost_nano_usd / _NANO for each in held]),
        )
        for name, held in results.items()
    }
    scores = [_score(each) for each in unranked.values()]
    return {
        name: each.model_copy(update={"rank": 1 + sum(score > _score(each) for score in scores)})
        for name, each in unranked.items()
    }


def _score(standing: Standing) -> tuple[float, float]:
    """What a leaderboard ranks by."""
    return standing.sce, standing.total_return


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), _DECIMALS)
