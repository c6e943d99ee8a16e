"""Plays a run: what is left of it, spread over workers, each episode kept as soon as it is reported."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation import answers, episodes, pool, thread_pool
from TokenOptEnv.evaluation.episodes import EpisodeResult
from TokenOptEnv.evaluation.fingerprint import fingerprint
from TokenOptEnv.evaluation.forgetting import forget_if_many
from TokenOptEnv.evaluation.run_folder import RunFolder
from TokenOptEnv.evaluation.suite import RunSpec, Unit, units
from TokenOptEnv.simulators.backend import Backend

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


def play(
    spec: RunSpec, folder: RunFolder, workers: int, engine: Engine = Engine.LOCAL, live: Backend | None = None
) -> Iterator[EpisodeResult]:
    """Results as they come, those of an interrupted run first. All are in the folder once this is exhausted.

    A `live` backend is one connection, one recording and one purse, so its episodes share this process.
    """
    if engine is Engine.RAY and not spec.backend.is_simulated:
        raise BadInput(f"engine 'ray' plays simulated models alone, and not {spec.backend.kind} ones; use local")
    jobs = spec.jobs()
    yield from (folder.done[job] for job in jobs if job in folder.done)
    left = [job for job in jobs if job not in folder.done]
    if live is None:
        slow = {name for name in spec.policy_names if ":" in name}
        work, spreading = partial(play_unit, spec, answers.answers_file(folder.path, spec.backend)), spread(engine)
    else:
        slow = set(spec.policy_names)
        work, spreading = partial(_play_on, spec, live), thread_pool.results
    for played in spreading(work, units(left, slow), workers):
        for result, trace in played:
            folder.add(result, trace)
            yield result
    folder.finish(jobs)


def play_unit(spec: RunSpec, recording: Path | None, unit: Unit) -> tuple[Played, ...]:
    """In a worker, which may run elsewhere and must run the same code."""
    here = fingerprint(spec.policy_names)
    if here != spec.code:
        raise BadInput(f"a worker runs other code ({here}) than the run was begun with ({spec.code}); align them")
    return _play_on(spec, answers.from_file(recording), unit)


def _play_on(spec: RunSpec, backend: Backend | None, unit: Unit) -> tuple[Played, ...]:
    forget_if_many()
    env = spec.options.environment(backend)
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
