"""Plays a run: what is left of it, spread over workers, each episode kept as soon as it is reported."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation import episodes, pool
from TokenOptEnv.evaluation.episodes import EpisodeResult
from TokenOptEnv.evaluation.fingerprint import fingerprint
from TokenOptEnv.evaluation.forgetting import forget_if_many
from TokenOptEnv.evaluation.run_folder import RunFolder
from TokenOptEnv.evaluation.suite import RunSpec, Unit, units

T = TypeVar("T")
R = TypeVar("R")

_WORTH_A_PROCESS = 100
"""Episodes."""


class Engine(StrEnum):
    LOCAL = "local"
    """Processes of this machine."""
    RAY = "ray"
    """A Ray cluster, or one started here."""


class Spread(Protocol):
    """How work is spread: what it gives for each item, in the order in which it is done."""

    def __call__(self, work: Callable[[T], R], items: Sequence[T], workers: int) -> Iterator[R]: ...


class Played(NamedTuple):
    result: EpisodeResult
    trace: str


def play(spec: RunSpec, folder: RunFolder, workers: int, engine: Engine = Engine.LOCAL) -> Iterator[EpisodeResult]:
    """Results as they come, those of an interrupted run first. All are in the folder once this is exhausted."""
    jobs = spec.jobs()
    yield from (folder.done[job] for job in jobs if job in folder.done)
    left = [job for job in jobs if job not in folder.done]
    slow = {name for name in spec.policy_names if ":" in name}
    work = partial(play_unit, spec)
    for played in spread(engine)(work, units(left, slow), workers):
        for result, trace in played:
            folder.add(result, trace)
            yield result
    folder.finish(jobs)


def play_unit(spec: RunSpec, unit: Unit) -> tuple[Played, ...]:
    """In a worker, which may run elsewhere and must run the same code."""
    here = fingerprint(spec.policy_names)
    if here != spec.code:
        raise BadInput(f"a worker runs other code ({here}) than the run was begun with ({spec.code}); align them")
    forget_if_many()
    env = spec.options.environment()
    played = (episodes.play(job.policy, job.scenario_id, job.seed, env) for job in unit.jobs)
    return tuple(Played(each.result, each.trace.to_jsonl()) for each in played)


def crew(episodes: int) -> int:
    """A process for each core, unless there is so little to do that starting one takes longer."""
    return max(1, min(len(os.sched_getaffinity(0)), episodes // _WORTH_A_PROCESS))


def spread(engine: Engine) -> Spread:
    if engine is Engine.RAY:
        from TokenOptEnv.evaluation import ray_pool

        return ray_pool.results
    return pool.results
