"""Many episodes: policies by scenarios by seeds, in one fixed order, and what they come to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from TokenOptEnv.evaluation.episodes import EpisodeResult
from TokenOptEnv.evaluation.metrics import Summary, by_difficulty, by_family, by_policy
from TokenOptEnv.models.base import Frozen


@dataclass(frozen=True, slots=True)
class Job:
    policy: str
    scenario_id: str
    seed: int


def jobs(policies: Iterable[str], scenario_ids: Sequence[str], seeds: Sequence[int]) -> tuple[Job, ...]:
    """Each once, however often it was named."""
    return tuple(
        dict.fromkeys(
            Job(policy, scenario_id, seed) for policy in policies for scenario_id in scenario_ids for seed in seeds
        )
    )


class Report(Frozen):
    overall: tuple[Summary, ...]
    families: tuple[Summary, ...]
    difficulties: tuple[Summary, ...]
    results: tuple[EpisodeResult, ...]


def report(results: Sequence[EpisodeResult]) -> Report:
    return Report(
        overall=by_policy(results),
        families=by_family(results),
        difficulties=by_difficulty(results),
        results=tuple(results),
    )
