"""Which runs there were: of which commit, when, with which jobs; and what the tests of each really said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from TokenOptEnv.config import Difficulty
from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.generator.planted import JOB_INFO, JobInfo
from TokenOptEnv.task_defs.ci.generator.plot import Plot
from TokenOptEnv.task_defs.ci.generator.repository import Repository
from TokenOptEnv.task_defs.ci.generator.roles import Role
from TokenOptEnv.task_defs.ci.generator.schedule import Part, Plan, schedule
from TokenOptEnv.task_defs.ci.generator.services import Heading, Pipeline, TestJob
from TokenOptEnv.task_defs.ci.generator.trees import VERBOSE
from TokenOptEnv.task_defs.ci.generator.trials import Trial, run_all
from TokenOptEnv.task_defs.ci.writers.history import Commit
from TokenOptEnv.task_defs.execution import TestRun

_SEEDS = (1_000, 9_999)


@dataclass(frozen=True)
class Job:
    heading: Heading
    test_job: TestJob
    info: JobInfo
    command: str
    is_gating: bool
    run: TestRun | None
    """What the tests said; None where they were never begun."""

    @property
    def passed(self) -> bool:
        return self.run is not None and not self.run.failing


@dataclass(frozen=True)
class Run:
    part: Part
    number: int
    attempt: int
    ref: str
    commit: Commit
    started: datetime
    place: int | None
    """Of its commit in main's history, counted from 0."""
    jobs: tuple[Job, ...]
    shown: tuple[str, ...]
    """Names of the jobs whose logs were kept."""

    def job(self, name: str) -> Job:
        return next(job for job in self.jobs if job.heading.job == name)

    @property
    def kept(self) -> tuple[Job, ...]:
        """The jobs whose logs can be read."""
        return tuple(job for job in self.jobs if job.heading.job in self.shown)

    @property
    def gate_is_red(self) -> bool:
        return any(job.is_gating and not job.passed for job in self.jobs)


@dataclass(frozen=True)
class Runs:
    chain: tuple[Run, ...]
    """Of main, oldest first."""
    red: Run
    again: Run
    later: Run
    probes: tuple[Run, ...] = ()

    @property
    def of_main(self) -> tuple[Run, ...]:
        """First attempts on main, oldest first."""
        found = [run for run in (*self.chain, self.red, self.later, *self.probes) if run.place is not None]
        return tuple(sorted(found, key=lambda run: run.number))

    @property
    def every(self) -> tuple[Run, ...]:
        return (*self.chain, self.red, self.again, self.later, *self.probes)


def hold(
    repository: Repository, difficulty: Difficulty, chain: int, brief: bool, draw: Stream, probes: int = 0
) -> Runs:
    """Plan the runs, execute their tests, and see that they say what the plot says.

    `brief`: of a run of the chain only one job's log was kept.
    """
    plans = schedule(repository, chain, probes, draw)
    red_job = _red_job(repository, plans, draw)
    drafts = [_run(repository, plan, difficulty, brief, draw, red_job) for plan in plans]
    executed = _executed(repository, drafts, red_job)
    _check(repository, executed, red_job)
    by_part = {run.part: run for run in executed}
    return Runs(
        chain=tuple(run for run in executed if run.part is Part.CHAIN),
        red=by_part[Part.RED],
        again=by_part[Part.AGAIN],
        later=by_part[Part.LATER],
        probes=tuple(run for run in executed if run.part is Part.PROBE),
    )


def red_job_of(repository: Repository, runs: Runs) -> Job:
    """The job for which the reported run is red."""
    red = [job for job in runs.red.jobs if not job.passed]
    gating = [job for job in red if job.is_gating]
    return (gating or red)[0]


def _pipeline(repository: Repository, plan: Plan) -> Pipeline:
    return repository.pipelines[repository.aside_place if plan.place is None else plan.place]


def _red_job(repository: Repository, plans: Sequence[Plan], draw: Stream) -> str:
    """The name of the job that the plot makes red."""
    plan = next(plan for plan in plans if plan.part is Part.RED)
    pipeline = _pipeline(repository, plan)
    match repository.plot:
        case Plot.ALLOWED:
            return pipeline.preview.name
        case Plot.SELECTION | Plot.OPTION:
            return next(job.name for job in pipeline.gating if _is_refused(job, plan.commit))
        case plot if plot.breaks_setup:
            return draw.choice(pipeline.gating).name
        case _:
            path = expected_failure(repository).partition("::")[0]
            return next(job.name for job in pipeline.gating if path in job.tests)


def expected_failure(repository: Repository) -> str:
    """The test that fails in the reported run's gate; the preview's own where nothing there does."""
    match repository.plot:
        case Plot.WOBBLE:
            return repository.wobble.test_id
        case Plot.LIBRARY:
            return repository.handbook_test
        case plot if plot.spoils_code:
            return repository.slip_test
        case _:
            return repository.preview_test


def _is_refused(job: TestJob, commit: Commit) -> bool:
    """Does pytest turn the command down before any test?"""
    return not job.is_understood or any(path not in commit.files for path in job.tests)


def _run(repository: Repository, plan: Plan, difficulty: Difficulty, brief: bool, draw: Stream, red_job: str) -> Run:
    pipeline = _pipeline(repository, plan)
    wanted = (*pipeline.gating, pipeline.preview)
    shown = _kept_logs(repository, plan, pipeline, red_job, difficulty, brief)
    info = _info(repository, plan, draw)
    jobs = tuple(
        Job(
            heading=Heading(
                project=repository.project.name,
                run=plan.number,
                attempt=plan.attempt,
                job=job.name,
                ref=plan.ref,
                sha=plan.commit.sha,
                date=f"{plan.started:%Y-%m-%d %H:%M}",
            ),
            test_job=job,
            info=info,
            command=pipeline.command(job),
            is_gating=job != pipeline.preview,
            run=None,
        )
        for job in wanted
    )
    return Run(plan.part, plan.number, plan.attempt, plan.ref, plan.commit, plan.started, plan.place, jobs, shown)


def _kept_logs(
    repository: Repository, plan: Plan, pipeline: Pipeline, red_job: str, difficulty: Difficulty, brief: bool
) -> tuple[str, ...]:
    """The jobs whose logs are at hand. Which part of the story a run plays decides it, and never the plot."""
    gating = [job.name for job in pipeline.gating]
    watched = _watched(repository, pipeline, red_job)
    others = [name for name in gating if name != watched]
    match plan.part:
        case Part.RED:
            return (*gating, pipeline.preview.name)
        case Part.AGAIN:
            return watched, pipeline.preview.name
        case Part.CHAIN:
            count = len(gating) if not brief else 2 if difficulty is Difficulty.HARD else 1
        case Part.LATER:
            count = len(gating) if difficulty is Difficulty.HARD else 1
        case Part.PROBE:
            count = 1
    return tuple(name for name in gating if name in [watched, *others][:count])


def _watched(repository: Repository, pipeline: Pipeline, red_job: str) -> str:
    """The gating job that tells about the plot in this run: the one with the test that may fail."""
    path = expected_failure(repository).partition("::")[0]
    return next(
        (job.name for job in pipeline.gating if path in job.tests),
        red_job if any(job.name == red_job for job in pipeline.gating) else pipeline.gating[0].name,
    )


def _info(repository: Repository, plan: Plan, draw: Stream) -> JobInfo:
    """What the job tells its tests. In the plot the reported run draws badly, and its second attempt does not."""
    names = len(repository.project.names)
    for _ in range(600):
        info = JobInfo(draw.integer(*_SEEDS), plan.started)
        fails = repository.wobble.fails(info, names)
        if repository.plot is not Plot.WOBBLE or plan.part not in (Part.RED, Part.AGAIN):
            return info
        if fails is (plan.part is Part.RED):
            return info
    raise ScenarioInvalid("no start lets the sample test fail first and pass then")


# What the tests say


def _executed(repository: Repository, runs: Sequence[Run], red_job: str) -> list[Run]:
    trials: dict[tuple[int, str], Trial] = {}
    for index, run in enumerate(runs):
        for job in run.jobs:
            if _is_begun(repository, run, job, red_job):
                trials[index, job.heading.job] = _trial(repository, run.commit, job)
    done = dict(zip(trials, run_all(tuple(trials.values())), strict=True))
    return [
        replace(run, jobs=tuple(replace(job, run=done.get((index, job.heading.job))) for job in run.jobs))
        for index, run in enumerate(runs)
    ]


def _trial(repository: Repository, commit: Commit, job: Job) -> Trial:
    """Only what the selected tests can import, so that runs which differ elsewhere are one trial."""
    tests = job.test_job.tests
    files = {
        path: text
        for path, text in commit.files.items()
        if path in tests or path.startswith(f"{repository.project.name}/") or path.endswith("conftest.py")
    }
    said = "".join(commit.files[path] for path in tests)
    if repository.library.name in said:
        files |= repository.installed(commit)
    if "job_info" in said:
        files[JOB_INFO] = job.info.text
    return Trial(files, tests, VERBOSE in job.command.split())


def _is_begun(repository: Repository, run: Run, job: Job, red_job: str) -> bool:
    if not job.is_gating:
        return True
    if repository.plot.breaks_setup and run.part in (Part.RED, Part.AGAIN):
        return job.heading.job != red_job
    return not _is_refused(job.test_job, run.commit)


def _check(repository: Repository, runs: Sequence[Run], red_job: str) -> None:
    """A rewrite that was not innocent, or a slip that did nothing, makes another case than the one drawn."""
    expected = expected_failure(repository)
    spoiled = repository.suspects[Role.REWRITE].commit if repository.plot is Plot.REGRESSION else None
    for run in runs:
        for job in run.jobs:
            if job.run is None:
                continue
            failing = set(job.run.failing)
            allowed = {expected} if job.is_gating else {repository.preview_test}
            if failing - allowed:
                raise ScenarioInvalid(f"run {run.number} fails in {sorted(failing - allowed)[0]}, which nobody planned")
    red = next(run for run in runs if run.part is Part.RED)
    again = next(run for run in runs if run.part is Part.AGAIN)
    later = next(run for run in runs if run.part is Part.LATER)
    wants_red = repository.plot is not Plot.ALLOWED
    if red.gate_is_red is not wants_red or red.job(red_job).passed:
        raise ScenarioInvalid("the reported run is not red as the plot has it")
    if again.job(red_job).passed is not (repository.plot is Plot.WOBBLE):
        raise ScenarioInvalid("the second attempt does not end as the plot has it")
    if later.gate_is_red:
        raise ScenarioInvalid("the later run is red")
    good = [run for run in runs if run.part is Part.CHAIN and run.place is not None and run.place < repository.hinge]
    if not good or any(run.gate_is_red for run in good):
        raise ScenarioInvalid("no run before the turn is good")
    if spoiled is not None and not all(
        run.gate_is_red for run in runs if (run.place or 0) >= repository.hinge and run.place is not None
    ):
        raise ScenarioInvalid("a run behind the guilty commit is good")
