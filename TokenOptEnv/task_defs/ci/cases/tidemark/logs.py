"""The CI logs of the tidemark case: jobs of a hosted service around real test runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.cases.tidemark.history import ALIGNED_TABLE, PACKAGE, TIME_ZONE_DATA, commits
from TokenOptEnv.task_defs.ci.writers import hosted, upload
from TokenOptEnv.task_defs.ci.writers.checkout import check_out
from TokenOptEnv.task_defs.ci.writers.history import Change, Commit
from TokenOptEnv.task_defs.ci.writers.install import install
from TokenOptEnv.task_defs.ci.writers.job_log import JobLog
from TokenOptEnv.task_defs.ci.writers.suite import run_step
from TokenOptEnv.task_defs.ci.writers.wheel_cache import cache_key, restore
from TokenOptEnv.task_defs.execution import TestRun, run_tests

REQUIREMENTS = "requirements/test.txt"
PREVIEW = "tests/test_preview.py"
WATCHED = "tests/test_lock.py::test_a_stale_lock_is_taken_over"
_REMOTE = "https://forge.example/harbour/tidemark"
_IMAGE = ("ubuntu-24.04", "20251112.1.0")


@cache
def gating_run(change: Change) -> TestRun:
    """What the `test` job runs: everything but the preview."""
    files = commits()[change].files
    return run_tests(files, sorted(path for path in files if path.startswith("tests/test_") and path != PREVIEW))


@cache
def preview_run(change: Change) -> TestRun:
    return run_tests(commits()[change].files, [PREVIEW])


def last_green_run() -> str:
    """Run 417, the gating job alone."""
    return _test_job(417, 1, datetime(2025, 11, 17, 15, 49, 2, tzinfo=UTC), ALIGNED_TABLE)


def red_run() -> str:
    """Run 418, first attempt: the cache service is away for two tries and then answers."""
    at = datetime(2025, 11, 19, 6, 53, 40, tzinfo=UTC)
    return _test_job(418, 1, at, TIME_ZONE_DATA, hiccups=2, notice=True) + _preview_job(418, at, TIME_ZONE_DATA)


def red_run_again() -> str:
    """Run 418, second attempt: failed jobs that gate, on another runner."""
    return _test_job(418, 2, datetime(2025, 11, 19, 8, 20, 11, tzinfo=UTC), TIME_ZONE_DATA)


def _open(run: int, job: str, attempt: int, at: datetime, commit: Commit) -> JobLog:
    stream = Stream("ci", PACKAGE, "run", run, job, attempt)
    log = JobLog(hosted.Hosted(), at + timedelta(milliseconds=stream.integer(0, 9_000)), stream)
    log.bare(f"##[job]{job} run={run} attempt={attempt} event=push ref=main {at:%Y-%m-%d}")
    hosted.set_up(log, job, *_IMAGE, ("actions/checkout@v5", "actions/cache@v4"))
    check_out(log, _REMOTE, commit)
    return log


def _test_job(run: int, attempt: int, at: datetime, change: Change, hiccups: int = 0, notice: bool = False) -> str:
    commit = commits()[change]
    log = _open(run, "test (3.11)", attempt, at, commit)
    pins = commit.files[REQUIREMENTS]
    restore(log, cache_key(pins), hiccups)
    install(log, REQUIREMENTS, pins)
    run_step(log, f"python -m pytest --ignore={PREVIEW}", gating_run(change))
    if notice:
        upload.flake_notice(log, WATCHED, flips=3, runs=50)
    upload.upload(log, f"coverage-{run}-{attempt}")
    hosted.tear_down(log)
    return log.text


def _preview_job(run: int, at: datetime, change: Change) -> str:
    log = _open(run, "preview", 1, at, commits()[change])
    run_step(log, f"python -m pytest {PREVIEW}", preview_run(change))
    hosted.tear_down(log)
    return log.text
