"""The logs of runs, and the lines in them that a case rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.generator import trouble
from TokenOptEnv.task_defs.ci.generator.plot import Plot
from TokenOptEnv.task_defs.ci.generator.repository import Repository
from TokenOptEnv.task_defs.ci.generator.runs import Job, Run
from TokenOptEnv.task_defs.ci.generator.trees import LOCK
from TokenOptEnv.task_defs.ci.writers import upload
from TokenOptEnv.task_defs.ci.writers.checkout import check_out, clone
from TokenOptEnv.task_defs.ci.writers.history import Commit
from TokenOptEnv.task_defs.ci.writers.install import install, install_breaks_off, quiet_install
from TokenOptEnv.task_defs.ci.writers.job_log import JobLog
from TokenOptEnv.task_defs.ci.writers.lint import lint
from TokenOptEnv.task_defs.ci.writers.suite import run_step
from TokenOptEnv.task_defs.ci.writers.wheel_cache import cache_key, miss, restore
from TokenOptEnv.task_defs.execution import TestRun

_COLD_SHARE = 0.35


@dataclass(frozen=True)
class JobLines:
    """Lines of one job's log, as they stand there."""

    text: str
    ended: datetime
    checkout: str
    failed: str = ""
    """The summary's line about the failing test."""
    detail: str = ""
    """What the assertion said."""
    broke: str = ""
    """Why the job came to no test."""
    hiccups: tuple[str, ...] = ()
    notice: str = ""
    installed: str = ""
    """The line that lists what pip installed."""


@dataclass(frozen=True, slots=True)
class RunLines:
    text: str
    summary: str
    """The line that says how the jobs of the run ended."""
    jobs: Mapping[str, JobLines]


@dataclass(frozen=True, slots=True)
class LogStyle:
    """What only some logs have."""

    remote: str
    hiccups: bool
    notice: str
    """A test that the flake detector names, if it does."""
    with_lint: bool
    terse: bool
    """Without caches, uploads and the install's progress."""


def run_log(repository: Repository, run: Run, style: LogStyle, stream: Callable[..., Stream]) -> RunLines:
    """The whole log of a run, and its telling lines."""
    texts = []
    if style.with_lint:
        texts.append(_lint(repository, run, style, stream(run.number, run.attempt, "lint")))
    written = {
        job.heading.job: _job(repository, run, job, style, stream(run.number, run.attempt, job.heading.job))
        for job in run.kept
    }
    texts += [lines.text for lines in written.values()]
    log = JobLog(repository.service.dialect, run.started, stream(run.number, run.attempt, "summary"))
    all_done_ms = int((max(lines.ended for lines in written.values()) - run.started).total_seconds() * 1000)
    log.wait(all_done_ms + 900, all_done_ms + 40_000)
    _, good, bad = repository.service.words
    states = {"lint": good}
    for job in run.jobs:
        totals = _totals(job.run) if job.run is not None else "no test was run"
        states[job.heading.job] = f"{good if job.passed else bad} ({totals})"
    repository.service.summary(log, run.jobs[0].heading, states)
    return RunLines("".join([*texts, log.text]), log.last, written)


def _lint(repository: Repository, run: Run, style: LogStyle, stream: Stream) -> str:
    service = repository.service
    log = JobLog(service.dialect, run.started, stream)
    heading = run.jobs[0].heading
    service.open(
        log, type(heading)(heading.project, run.number, run.attempt, "lint", run.ref, run.commit.sha, heading.date)
    )
    check_out(log, style.remote, run.commit, run.ref)
    lint(log, len([path for path in run.commit.files if path.endswith(".py")]))
    service.close(log)
    return log.text


def _job(repository: Repository, run: Run, job: Job, style: LogStyle, stream: Stream) -> JobLines:
    service, plot = repository.service, repository.plot
    log = JobLog(service.dialect, _begin(run, stream), stream)
    fatal = plot if plot.breaks_setup and job.run is None else None
    shaky = style.hiccups and job.is_gating and fatal is None
    hiccups: list[str] = []

    def suffer(kind: Plot, passes: Callable[[JobLog], None], ends: Callable[[JobLog], None]) -> bool:
        """Some trouble of this kind, if it is due; True where it ends the job."""
        before = log.text
        if fatal is kind:
            ends(log)
            return True
        if shaky and kind in trouble.HICCUPS[repository.is_held_out]:
            passes(log)
            hiccups.append(log.text[len(before) :].split("\n")[0])
        return False

    def finish(broke: str = "") -> JobLines:
        if broke:
            log.say("job aborted, no test was run")
        if job.run is not None and not style.terse:
            upload.upload(log, f"junit-{job.heading.job.replace(':', '-')}-{run.attempt}")
        if not style.terse:
            service.close(log)
        return JobLines(
            text=log.text,
            ended=log.now,
            checkout=next((line for line in log.text.split("\n") if "HEAD is now at" in line), ""),
            broke=broke,
            hiccups=tuple(hiccups),
            installed=next((line for line in log.text.split("\n") if "Successfully installed" in line), ""),
        )

    service.open(log, job.heading, style.terse)
    if suffer(Plot.IMAGE, trouble.slow_pull, trouble.failed_pull):
        return finish(log.last)
    (clone if style.terse else check_out)(log, style.remote, run.commit, run.ref)
    pins = run.commit.files[LOCK]
    if fatal is Plot.MIRROR:
        miss(log, cache_key(pins))
        install_breaks_off(log, LOCK, pins)
        lines = log.text.rstrip("\n").split("\n")
        return finish(next(line for line in reversed(lines) if "Could not find a version" in line))
    mirror_is_slow = shaky and not repository.is_held_out
    if job.is_gating:
        before = log.text
        _install(log, pins, style.terse, 1 if mirror_is_slow else 0)
        if mirror_is_slow:
            added = log.text[len(before) :].split("\n")
            hiccups.append(next(line for line in added if "Retrying" in line))
        if suffer(Plot.DISK, trouble.scarce_disk, trouble.full_disk):
            return finish(next(line for line in log.text.split("\n") if "No space left" in line))
        log.command("tools/job_info | tee tests/job_info.py")
        log.say(*job.info.text.rstrip("\n").split("\n"))
    if job.run is None and fatal is None:
        return finish(_refused(repository, log, job, run.commit))
    if suffer(Plot.LOST_HOST, trouble.missed_heartbeat, trouble.lost_host):
        return finish(log.last)
    if fatal is Plot.SUPERSEDED:
        trouble.called_off(log)
        return finish(log.last)
    assert job.run is not None
    run_step(log, job.command, job.run)
    report = log.text.split("\n")
    if style.notice and job.is_gating:
        upload.flake_notice(log, style.notice, flips=log.stream.integer(2, 6), runs=log.stream.integer(60, 240))
    notice = log.last if style.notice and job.is_gating else ""
    done = finish()
    failing = job.run.failing[0] if job.run.failing else ""
    return JobLines(
        text=done.text,
        ended=done.ended,
        checkout=done.checkout,
        failed=next((line for line in report if f"FAILED {failing[:40]}" in line), "") if failing else "",
        detail=next((line for line in report if " E  " in line), ""),
        hiccups=done.hiccups,
        notice=notice,
        installed=next((line for line in report if "installed: " in line or "Successfully installed" in line), ""),
    )


def _install(log: JobLog, pins: str, terse: bool, timeouts: int) -> None:
    if terse:
        quiet_install(log, LOCK, pins, timeouts)
        return
    cold = log.stream.chance(_COLD_SHARE)
    if cold:
        miss(log, cache_key(pins))
    else:
        restore(log, cache_key(pins))
    install(log, LOCK, pins, cached=not cold, timeouts=timeouts)


def _begin(run: Run, stream: Stream) -> datetime:
    """Jobs of a run wait for a host, each its own while."""
    return run.started + timedelta(seconds=stream.integer(0, 40))


def _refused(repository: Repository, log: JobLog, job: Job, commit: Commit) -> str:
    """pytest's own words when it cannot do what its command line asks."""
    log.open("Run tests")
    log.command(job.command)
    log.wait(300, 900)
    if repository.plot is Plot.OPTION:
        log.say("ERROR: usage: pytest [options] [file_or_dir] [file_or_dir] [...]")
        log.say(f"pytest: error: unrecognized arguments: {job.test_job.flag}")
    else:
        missing = next(path for path in job.test_job.tests if path not in commit.files)
        log.say(f"ERROR: file or directory not found: {missing}")
        log.say("", "no tests ran in 0.00s")
    broke = next(line for line in log.text.split("\n") if "not found: tests" in line or "unrecognized" in line)
    log.fail(4)
    log.close()
    return broke


def _totals(run: TestRun) -> str:
    failed = len(run.failing)
    passed = len(run.results) - failed
    return f"{failed} failed, {passed} passed" if failed else f"{passed} passed"
