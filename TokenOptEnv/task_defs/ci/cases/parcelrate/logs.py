"""The CI logs of the parcelrate case: pushes cut into shards, nightlies in one process, all of them run for real."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.cases.parcelrate.history import (
    CHANGELOG,
    LABEL_BLANKS,
    PACKAGE,
    README_STATEMENTS,
    SCHEDULE_NOTE,
    SORTED_CODES,
    commits,
)
from TokenOptEnv.task_defs.ci.writers import fleet, upload
from TokenOptEnv.task_defs.ci.writers.checkout import check_out
from TokenOptEnv.task_defs.ci.writers.history import Change
from TokenOptEnv.task_defs.ci.writers.install import install, install_breaks_off
from TokenOptEnv.task_defs.ci.writers.job_log import JobLog
from TokenOptEnv.task_defs.ci.writers.lint import lint
from TokenOptEnv.task_defs.ci.writers.suite import run_step
from TokenOptEnv.task_defs.ci.writers.wheel_cache import cache_key, miss, restore
from TokenOptEnv.task_defs.execution import TestRun, run_tests

REQUIREMENTS = "requirements/test.lock"
STRICT = "tests/test_labels_strict.py"
WATCHED = "tests/test_statements.py::test_an_empty_month_is_a_page_too"
_REMOTE = "ssh://git@forge.example/freight/parcelrate"
_SHARDS = ("shard-1", "shard-2", "shard-3")


def shard_plan(change: Change) -> dict[str, list[str]]:
    """Which test files share a process, as the commit itself says."""
    plan: dict[str, list[str]] = json.loads(commits()[change].files["ci/shards.json"])
    return plan


def all_tests(change: Change) -> tuple[str, ...]:
    """What the nightly runs, in pytest's order."""
    return tuple(sorted(path for path in commits()[change].files if path.startswith("tests/test_") and path != STRICT))


@cache
def test_run(change: Change, tests: tuple[str, ...]) -> TestRun:
    return run_tests(commits()[change].files, tests, verbose=True)


def green_push() -> str:
    """Run 2284, under the old shards."""
    at = datetime(2026, 7, 9, 12, 37, tzinfo=UTC)
    return "".join(_shard_job(2284, 1, shard, at, LABEL_BLANKS, warm=True) for shard in _SHARDS)


def red_push() -> str:
    """Run 2291: new pins, so a cold cache; a shard that fails; a shard whose host was taken away."""
    at, head = datetime(2026, 7, 9, 16, 12, tzinfo=UTC), README_STATEMENTS
    return "".join(
        [
            _lint_job(2291, at, head),
            _shard_job(2291, 1, "shard-1", at, head, timeouts=1),
            _shard_job(2291, 1, "shard-2", at, head, notice=True),
            _shard_job(2291, 1, "shard-3", at, head, lost=True),
            _strict_job(2291, at, head),
        ]
    )


def red_push_again() -> str:
    """Run 2291, the two failed shards once more."""
    at = datetime(2026, 7, 9, 16, 31, tzinfo=UTC)
    return "".join(_shard_job(2291, 2, shard, at, README_STATEMENTS, warm=True) for shard in ("shard-2", "shard-3"))


def nightlies() -> str:
    """Three nights: one passes, one never comes to its tests, one fails."""
    return "".join(
        [
            _nightly_job(7, SCHEDULE_NOTE),
            _broken_nightly_job(8, SORTED_CODES),
            _nightly_job(9, CHANGELOG),
        ]
    )


def _open(run: str, job: str, attempt: int, at: datetime, change: Change) -> JobLog:
    log = JobLog(fleet.Fleet(), at, Stream("ci", PACKAGE, "run", run, job, attempt, f"{at:%m%d}"))
    log.bare(f"=== {PACKAGE} {run} | {job} | attempt {attempt} | {at:%Y-%m-%d %H:%M} UTC ===")
    fleet.set_up(log, "linux-small")
    check_out(log, _REMOTE, commits()[change])
    return log


def _lint_job(run: int, at: datetime, change: Change) -> str:
    log = _open(f"#{run}", "lint", 1, at, change)
    lint(log, len([path for path in commits()[change].files if path.endswith(".py")]))
    fleet.tear_down(log)
    return log.text


def _shard_job(
    run: int,
    attempt: int,
    shard: str,
    at: datetime,
    change: Change,
    warm: bool = False,
    timeouts: int = 0,
    notice: bool = False,
    lost: bool = False,
) -> str:
    log = _open(f"#{run}", f"tests ({shard})", attempt, at, change)
    _prepare(log, change, warm, timeouts)
    tests = tuple(shard_plan(change)[shard])
    command = f"pytest -v {' '.join(tests)}"
    if lost:
        log.open("Run tests")
        log.command(command)
        fleet.lost_agent(log)
        return log.text
    run_step(log, command, test_run(change, tests))
    if notice:
        upload.flake_notice(log, WATCHED, flips=2, runs=200)
    upload.upload(log, f"junit-{shard}-{attempt}")
    fleet.tear_down(log)
    return log.text


def _strict_job(run: int, at: datetime, change: Change) -> str:
    log = _open(f"#{run}", "labels-strict", 1, at, change)
    run_step(log, f"pytest -v {STRICT}", test_run(change, (STRICT,)))
    fleet.tear_down(log)
    return log.text


def _nightly_job(day: int, change: Change) -> str:
    log = _open("nightly", "nightly", 1, datetime(2026, 7, day, 2, 10, tzinfo=UTC), change)
    _prepare(log, change, warm=True)
    run_step(log, f"pytest -v tests --ignore {STRICT}", test_run(change, all_tests(change)))
    upload.upload(log, f"durations-07-{day:02d}")
    fleet.tear_down(log)
    return log.text


def _broken_nightly_job(day: int, change: Change) -> str:
    log = _open("nightly", "nightly", 1, datetime(2026, 7, day, 2, 10, tzinfo=UTC), change)
    pins = commits()[change].files[REQUIREMENTS]
    miss(log, cache_key(pins))
    install_breaks_off(log, REQUIREMENTS, pins)
    fleet.tear_down(log)
    return log.text


def _prepare(log: JobLog, change: Change, warm: bool, timeouts: int = 0) -> None:
    pins = commits()[change].files[REQUIREMENTS]
    if warm:
        restore(log, cache_key(pins))
    else:
        miss(log, cache_key(pins))
    install(log, REQUIREMENTS, pins, cached=warm, timeouts=timeouts)
