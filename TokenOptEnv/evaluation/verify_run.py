"""Does a run's folder hold what it says? Every episode is played again from its trace and scored afresh.

What is caught: a trace whose steps, bills, rewards or answers were changed; a score that does not follow from its
trace; a scenario that is not the one shipped; a scenario or an episode left out or put in. What cannot be: actions
chosen by somebody who had read the truth, and answers of real models that somebody else wrote into the recording.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from TokenOptEnv.backends import recording
from TokenOptEnv.errors import BadInput, CamreError
from TokenOptEnv.evaluation import answers, pool
from TokenOptEnv.evaluation.episodes import EpisodeResult
from TokenOptEnv.evaluation.forgetting import forget_if_many
from TokenOptEnv.evaluation.recorded import read_trace
from TokenOptEnv.evaluation.replay import Replay, told
from TokenOptEnv.evaluation.run_folder import TRACES, Run, job_of, trace_path
from TokenOptEnv.evaluation.suite import CHOSEN, Job, RunOptions, scenarios_of
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.simulators.backend import Backend
from TokenOptEnv.version import SCORING_VERSION


class RunFault(Frozen):
    place: str
    """The episode, or the file, that is not what it should be."""
    cause: str

    @property
    def line(self) -> str:
        return f"{self.place}: {self.cause}"


def verify(run: Run, workers: int) -> Iterator[tuple[RunFault, ...]]:
    """Faults of the folder as a whole, then those of each scenario's episodes, as they are found."""
    yield tuple(_whole(run))
    faulty = _recording_fault(run)
    if faulty is not None:
        yield (faulty,)
        return
    by_scenario: dict[str, list[EpisodeResult]] = {}
    for result in run.results:
        by_scenario.setdefault(result.scenario_id, []).append(result)
    work = partial(_faults_of, run.folder, run.spec.options, run.recording)
    yield from pool.results(work, [tuple(held) for held in by_scenario.values()], workers)


def _whole(run: Run) -> Iterator[RunFault]:
    if run.spec.scoring_version != SCORING_VERSION:
        raise BadInput(
            f"{str(run.folder)!r} was scored by version {run.spec.scoring_version}, and this is {SCORING_VERSION};"
            " verify it with the version it names"
        )
    if run.spec.suite != CHOSEN:
        whole = scenarios_of(run.spec.suite, len(run.spec.scenario_ids))
        for scenario_id in sorted(set(whole).symmetric_difference(run.spec.scenario_ids)):
            cause = "left out" if scenario_id in whole else "put in"
            yield RunFault(place=scenario_id, cause=f"it was {cause}: the run says that it plays {run.spec.suite}")
    expected = run.spec.jobs()
    played = set(map(job_of, run.results))
    for job in expected:
        if job not in played:
            yield RunFault(place=_name(job), cause="it is part of the run, and has no result")
    for job in sorted(played.difference(expected)):
        yield RunFault(place=_name(job), cause="it has a result, and is no part of the run")
    known = {trace_path(run.folder, job) for job in expected}
    for file in sorted((run.folder / TRACES).rglob("*.jsonl")):
        if file not in known:
            yield RunFault(place=str(file.relative_to(run.folder)), cause="it is the trace of no episode of the run")


def _recording_fault(run: Run) -> RunFault | None:
    """Without the answers it was played on, no episode can be played again."""
    if run.recording is None:
        return None
    place = run.recording.name
    try:
        recording.read(run.recording)
        found = recording.digest(run.recording)
    except BadInput as fault:
        return RunFault(place=place, cause=str(fault))
    stated = run.spec.backend.recording_sha256
    if stated not in (None, found):
        return RunFault(place=place, cause=f"its hash is {found}, and the run was played on {stated}")
    return None


def _faults_of(
    folder: Path, options: RunOptions, answered: Path | None, claimed: Sequence[EpisodeResult]
) -> tuple[RunFault, ...]:
    forget_if_many()
    backend = answers.from_file(answered)
    return tuple(fault for result in claimed for fault in _episode_faults(folder, options, backend, result))


def _episode_faults(
    folder: Path, options: RunOptions, backend: Backend | None, claimed: EpisodeResult
) -> tuple[RunFault, ...]:
    job = job_of(claimed)
    file = trace_path(folder, job)
    if not file.is_file():
        return (RunFault(place=_name(job), cause="its trace is missing"),)
    try:
        return tuple(RunFault(place=_name(job), cause=cause) for cause in _causes(file, options, backend, claimed))
    except CamreError as fault:
        return (RunFault(place=_name(job), cause=str(fault)),)


def _causes(file: Path, options: RunOptions, backend: Backend | None, claimed: EpisodeResult) -> Sequence[str]:
    trace = read_trace(file)
    header = trace.header
    if (header.scenario_id, header.seed) != (claimed.scenario_id, claimed.seed):
        return [f"its trace is of {header.scenario_id}@{header.seed}"]
    replay = Replay(trace, backend, **options.model_dump())
    shown = replay.first.stamp.public_hash
    if header.stamp.public_hash != shown:
        return [f"the scenario was another: its hash is {header.stamp.public_hash}, and of the one shipped {shown}"]
    departure = replay.departure()
    if departure is not None:
        return [f"the trace was tampered with, or not made by this engine: {told(departure)}"]
    scored = replay.record.result(claimed.policy, claimed.own_usage)
    wrong = [name for name in EpisodeResult.model_fields if getattr(scored, name) != getattr(claimed, name)]
    return [
        f"the result says {name} {str(getattr(claimed, name))[:80]}, and its trace {str(getattr(scored, name))[:80]}"
        for name in wrong[:1]
    ]


def _name(job: Job) -> str:
    return f"{job.policy} on {job.scenario_id}@{job.seed}"
