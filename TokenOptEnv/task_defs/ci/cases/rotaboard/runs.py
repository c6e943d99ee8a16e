"""Which runs there were, when each of them began, and what their tests really said at that hour."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.cases.many_runs import run_each
from TokenOptEnv.task_defs.ci.cases.rotaboard import history
from TokenOptEnv.task_defs.ci.cases.rotaboard.history import LIBRARIES, PACKAGE, commits
from TokenOptEnv.task_defs.ci.writers.history import Change, Commit
from TokenOptEnv.task_defs.execution import TestRun, run_tests

_ROOTS = (".", "tests")
JOB_INFO = "tests/job_info.py"


@dataclass(frozen=True)
class Run:
    number: int
    attempt: int
    event: str
    change: Change
    at: datetime
    lost: bool = False
    """The runner went away before a test began."""

    @property
    def commit(self) -> Commit:
        return commits()[self.change]

    @property
    def job_info(self) -> str:
        """What the job writes down for its tests."""
        at = self.at
        moment = f"{at.year}, {at.month}, {at.day}, {at.hour}, {at.minute}, {at.second}"
        return f"from datetime import UTC, datetime\n\nSTARTED = datetime({moment}, tzinfo=UTC)\n"


def _at(day: int, hour: int, minute: int) -> datetime:
    return datetime(2026, 4, day, hour, minute, 8, tzinfo=UTC)


RUNS = (
    Run(5201, 1, "push", history.SUMMER, _at(13, 9, 7)),
    Run(5202, 1, "push", history.AWAY_ONCE, _at(13, 14, 22)),
    Run(5203, 1, "upstream", history.AWAY_ONCE, _at(13, 22, 31)),
    Run(5204, 1, "schedule", history.AWAY_ONCE, _at(14, 2, 10)),
    Run(5205, 1, "push", history.LONG_ROTAS, _at(14, 10, 14)),
    Run(5206, 1, "push", history.NOTES_FIRST, _at(14, 16, 42)),
    Run(5207, 1, "upstream", history.NOTES_FIRST, _at(14, 23, 12)),
    Run(5208, 1, "schedule", history.NOTES_FIRST, _at(15, 2, 10)),
    Run(5209, 1, "push", history.THAWED, _at(15, 11, 33)),
    Run(5210, 1, "push", history.NO_EMPTY_DAYS, _at(15, 16, 0)),
    Run(5211, 1, "upstream", history.NO_EMPTY_DAYS, _at(15, 20, 15), lost=True),
    Run(5212, 1, "upstream", history.NO_EMPTY_DAYS, _at(15, 21, 44)),
    Run(5213, 1, "upstream", history.NO_EMPTY_DAYS, _at(15, 22, 6)),
    Run(5213, 2, "upstream", history.NO_EMPTY_DAYS, _at(16, 0, 21)),
    Run(5214, 1, "schedule", history.NO_EMPTY_DAYS, _at(16, 2, 10)),
    Run(5215, 1, "push", history.RETRY_LINT, _at(16, 9, 49)),
    Run(5216, 1, "push", history.NIGHT_TABLE, _at(16, 17, 24)),
    Run(5217, 1, "upstream", history.NIGHT_TABLE, _at(16, 21, 57)),
    Run(5218, 1, "upstream", history.NIGHT_TABLE, _at(16, 22, 48)),
    Run(5218, 2, "upstream", history.NIGHT_TABLE, _at(16, 23, 5)),
    Run(5219, 1, "schedule", history.NIGHT_TABLE, _at(17, 2, 10)),
    Run(5220, 1, "push", history.README, _at(17, 10, 32)),
    Run(5221, 1, "upstream", history.README, _at(17, 23, 37)),
    Run(5221, 2, "upstream", history.README, _at(18, 0, 9)),
)
"""Every run of the week and every second attempt, oldest first."""


def run_of(number: int, attempt: int = 1) -> Run:
    return next(run for run in RUNS if (run.number, run.attempt) == (number, attempt))


@cache
def gating_runs() -> dict[Run, TestRun]:
    """The tests of every run that came to them, in one interpreter."""
    begun = [run for run in RUNS if not run.lost]
    trees = [
        {path: text for path, text in run.commit.files.items() if path.startswith((f"{PACKAGE}/", "tests/"))}
        | {JOB_INFO: run.job_info}
        for run in begun
    ]
    return dict(zip(begun, run_each(trees, _ROOTS), strict=True))


@cache
def mobile_run() -> TestRun:
    files = commits()[history.SUMMER].files
    wanted = {path: text for path, text in files.items() if path.startswith((f"{PACKAGE}/", "mobile/"))}
    return run_tests(wanted, verbose=True)


@cache
def libs_run() -> TestRun:
    """The tests of the other packages; nothing of the week touches them."""
    files = commits()[history.SUMMER].files
    return run_tests({p: t for p, t in files.items() if p.startswith(("libs/", *LIBRARIES))}, verbose=True)


def summary(run: Run) -> str:
    """The line of the export that says when a run's tests began, at which commit, and how they ended."""
    began = f"{run.number}/{run.attempt} tests of {run.commit.sha} began {run.at:%a %H:%M} UTC"
    if run.lost:
        return f"{began}: not run, runner lost"
    done = gating_runs()[run]
    failed = len(done.failing)
    passed = len(done.results) - failed
    return f"{began}: {failed} failed, {passed} passed" if failed else f"{began}: {passed} passed"


def export() -> str:
    """One page a run, oldest first."""
    return "\n".join(_page(run) for run in RUNS) + "\n"


def _page(run: Run) -> str:
    draw = Stream("ci", PACKAGE, "page", run.number, run.attempt)
    libs = draw.shuffled([result.test_id for result in libs_run().results])[:4]
    return "\n".join(
        [
            f"===== run {run.number} | attempt {run.attempt} | {run.event} | {run.at:%Y-%m-%d} =====",
            f"main at {run.commit.sha} {run.commit.subject}",
            f"runner deck-{draw.integer(11, 48)}, image py311-{draw.hex(6)}, queued {draw.integer(1, 70)} s",
            f"lint passed in {draw.integer(2, 6)} s",
            f"libs passed in {draw.integer(7, 15)} s, {len(libs_run().results)} tests, the slowest:",
            *(f"  {test_id} {draw.integer(12, 80) / 100:.2f} s" for test_id in libs),
            f"mobile failed in {draw.integer(2, 5)} s (no gate)",
            summary(run),
            f"coverage {draw.integer(930, 991) / 10:.1f} percent, of libs {draw.integer(880, 990) / 10:.1f} percent",
            f"cache wheels-{draw.hex(6)} hit, {draw.integer(3, 19)} MB; artifacts kept until {run.at:%B} 30",
        ]
    )
