"""A build job's log: the machine, the checkout and the installation around a real test report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from TokenOptEnv.streams import Stream

_REQUIREMENTS = (
    ("attrs", ("24.2.0", "24.3.0", "25.1.0")),
    ("certifi", ("2024.8.30", "2024.12.14", "2025.1.31")),
    ("coverage", ("7.6.4", "7.6.10", "7.6.12")),
    ("execnet", ("2.1.1",)),
    ("idna", ("3.7", "3.10")),
    ("iniconfig", ("2.0.0",)),
    ("packaging", ("24.1", "24.2")),
    ("pluggy", ("1.5.0",)),
    ("requests", ("2.32.2", "2.32.3")),
    ("typing-extensions", ("4.12.1", "4.12.2")),
    ("urllib3", ("2.2.3", "2.3.0")),
)
"""Packages of a test environment, with versions that were about in those months."""


class JobClock:
    """The wall clock of a simulated machine."""

    def __init__(self, start: datetime) -> None:
        self._now = start.astimezone(UTC)

    def tick(self, milliseconds: int) -> str:
        """Let time pass; the stamp of the new moment."""
        self._now += timedelta(milliseconds=milliseconds)
        return f"{self._now:%Y-%m-%dT%H:%M:%S}.{self._now.microsecond // 1000:03d}Z"


@dataclass(frozen=True, slots=True)
class Job:
    """What one job's log is about. `notices` are lines the runner prints by itself, in their order."""

    name: str
    number: int
    runner: str
    head: str
    branch: str
    command: str
    environment: Mapping[str, str]
    notices: Sequence[str]
    trigger: str


def write_job_log(stream: Stream, clock: JobClock, job: Job, report: str, failed: bool) -> str:
    """Stamped lines of the runner; the report of the tests in between as it is, unstamped."""
    lines = [*_start(stream, clock, job), *_install(stream, clock), *_environment(stream, clock, job)]
    lines += [_stamped(clock, stream, f"$ {job.command}"), report.rstrip("\n"), *_end(stream, clock, job, failed)]
    return "\n".join(lines) + "\n"


def _stamped(clock: JobClock, stream: Stream, text: str) -> str:
    return f"[{clock.tick(stream.integer(2, 900))}] {text}"


def _start(stream: Stream, clock: JobClock, job: Job) -> list[str]:
    texts = [
        f"job {job.name} #{job.number} picked up by {job.runner} (agent 3.{stream.integer(60, 79)})",
        f"trigger: {job.trigger}",
        f"workspace clean, {stream.integer(18, 44)}.{stream.integer(0, 9)} GiB free",
        f"$ git fetch --depth=50 origin {job.branch}",
        f"From git.internal:libs/{job.name.split('/')[0]}",
        f" * branch            {job.branch}     -> FETCH_HEAD",
        f"$ git checkout --detach {job.head}",
        f"HEAD is now at {job.head}",
        *job.notices,
    ]
    return [_stamped(clock, stream, text) for text in texts]


def _install(stream: Stream, clock: JobClock) -> list[str]:
    """The cache is warm, so nearly everything is there already: the dullest part of every log."""
    lines = [_stamped(clock, stream, "$ python -m pip install -e .[test]")]
    for name, versions in _REQUIREMENTS:
        lines.append(f"Requirement already satisfied: {name} in ./.venv/lib/site-packages ({stream.choice(versions)})")
    return lines


def _environment(stream: Stream, clock: JobClock, job: Job) -> list[str]:
    lines = [
        _stamped(clock, stream, "$ python -VV && env | sort"),
        f"Python 3.11.{stream.integer(6, 9)} (main) [GCC 12.2.0]",
    ]
    return lines + [f"{name}={value}" for name, value in sorted(job.environment.items())]


def _end(stream: Stream, clock: JobClock, job: Job, failed: bool) -> list[str]:
    status = 1 if failed else 0
    texts = [
        f"command exited with status {status}",
        f"uploading artifacts: report.xml ({stream.integer(9, 60)} KiB), coverage.xml ({stream.integer(30, 90)} KiB)",
        f"job {job.name} #{job.number} {'FAILED' if failed else 'passed'}",
    ]
    return [_stamped(clock, stream, text) for text in texts]
