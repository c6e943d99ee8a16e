"""Which runs there were, on which host, with what installed; and what their tests really said."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.cases.ferrybook import history
from TokenOptEnv.task_defs.ci.cases.ferrybook.history import LOCK, WHEELS, commits, wheel
from TokenOptEnv.task_defs.ci.cases.many_runs import run_each
from TokenOptEnv.task_defs.ci.writers.history import Change, Commit
from TokenOptEnv.task_defs.execution import TestRun, run_tests

_ROOTS = (".", "site")
GATING, PREVIEW, LIBS = "tests/ferrybook/", "tests/preview/", "tests/libs/"


@dataclass(frozen=True)
class Run:
    number: int
    attempt: int
    event: str
    change: Change
    host: str
    at: datetime

    @property
    def commit(self) -> Commit:
        return commits()[self.change]

    @property
    def venv(self) -> Venv:
        """What lay on the host when the run began: the last that was built there."""
        return [venv for venv in _VENVS if venv.host == self.host and venv.built < self.at][-1]


@dataclass(frozen=True)
class Venv:
    host: str
    built: datetime
    change: Change
    """Whose lock it was built from."""

    @property
    def commit(self) -> Commit:
        return commits()[self.change]

    @property
    def pins(self) -> dict[str, str]:
        return dict(line.split("==") for line in self.commit.files[LOCK].split())


def _at(day: int, hour: int, minute: int, month: int = 3) -> datetime:
    return datetime(2026, month, day, hour, minute, 41, tzinfo=UTC)


_VENVS = (
    Venv("quay-1", _at(17, 15, 30, month=2), history.HOST_VENV),
    Venv("quay-2", _at(17, 15, 44, month=2), history.HOST_VENV),
    Venv("quay-3", _at(17, 16, 2, month=2), history.HOST_VENV),
    Venv("quay-4", _at(17, 16, 20, month=2), history.HOST_VENV),
    Venv("quay-1", _at(2, 18, 4), history.UPPER_DECK),
    Venv("quay-2", _at(4, 7, 1), history.SENIORS),
    Venv("quay-4", _at(5, 6, 33), history.LAST_BOAT),
)
"""Built anew after a host was cleaned, from the lock of the day; oldest first."""

RUNS = (
    Run(3121, 1, "push", history.WINTER, "quay-3", _at(2, 9, 12)),
    Run(3122, 1, "push", history.PORTCODES, "quay-2", _at(2, 10, 27)),
    Run(3123, 1, "push", history.UPPER_DECK, "quay-1", _at(2, 13, 42)),
    Run(3124, 1, "schedule", history.UPPER_DECK, "quay-4", _at(3, 2, 10)),
    Run(3125, 1, "push", history.BICYCLES, "quay-1", _at(3, 8, 57)),
    Run(3126, 1, "push", history.ROUNDEL, "quay-3", _at(3, 11, 32)),
    Run(3127, 1, "push", history.SURNAMES, "quay-4", _at(3, 14, 14)),
    Run(3128, 1, "push", history.SENIORS, "quay-1", _at(3, 16, 47)),
    Run(3129, 1, "schedule", history.SENIORS, "quay-3", _at(4, 2, 10)),
    Run(3130, 1, "push", history.CLEAN_LATER, "quay-1", _at(4, 9, 22)),
    Run(3131, 1, "push", history.PLAINTAB, "quay-2", _at(4, 10, 50)),
    Run(3131, 2, "push", history.PLAINTAB, "quay-3", _at(4, 11, 9)),
    Run(3132, 1, "push", history.GROUPS, "quay-4", _at(4, 13, 17)),
    Run(3133, 1, "push", history.LAST_BOAT, "quay-2", _at(4, 15, 52)),
    Run(3133, 2, "push", history.LAST_BOAT, "quay-1", _at(4, 16, 15)),
    Run(3134, 1, "schedule", history.LAST_BOAT, "quay-4", _at(5, 2, 10)),
    Run(3135, 1, "push", history.ATTRS, "quay-3", _at(5, 9, 7)),
    Run(3136, 1, "push", history.FEE, "quay-4", _at(5, 11, 24)),
    Run(3137, 1, "push", history.TODDLERS, "quay-1", _at(5, 14, 35)),
    Run(3138, 1, "push", history.README, "quay-2", _at(5, 16, 20)),
    Run(3139, 1, "schedule", history.README, "quay-3", _at(6, 2, 10)),
    Run(3140, 1, "push", history.CAPITALS, "quay-4", _at(6, 8, 42)),
    Run(3140, 2, "push", history.CAPITALS, "quay-2", _at(6, 9, 3)),
)
"""Every run of the week and every second attempt, oldest first."""


def run_of(number: int, attempt: int = 1) -> Run:
    return next(run for run in RUNS if (run.number, run.attempt) == (number, attempt))


def _tree(commit: Commit, pins: dict[str, str], tests: str) -> dict[str, str]:
    """The package, one folder of tests, and what is installed."""
    files = {path: text for path, text in commit.files.items() if path.startswith((f"{history.PACKAGE}/", tests))}
    return files | {f"site/{name}.py": wheel(name, pins[name]) for name in WHEELS}


@cache
def gating_runs() -> dict[Run, TestRun]:
    """The gating tests of every run, in one interpreter."""
    trees = [_tree(run.commit, run.venv.pins, GATING) for run in RUNS]
    return dict(zip(RUNS, run_each(trees, _ROOTS), strict=True))


def clean_install(change: Change) -> TestRun:
    """The gating tests of a commit with exactly what its own lock says."""
    pins = dict(line.split("==") for line in commits()[change].files[LOCK].split())
    return run_tests(_tree(commits()[change], pins, GATING), roots=_ROOTS)


@cache
def preview_run(change: Change) -> TestRun:
    commit = commits()[change]
    pins = dict(line.split("==") for line in commit.files[LOCK].split())
    return run_tests(_tree(commit, pins, PREVIEW), verbose=True, roots=_ROOTS)


@cache
def libs_run() -> TestRun:
    """The tests of the other packages; nothing of the week touches them."""
    files = commits()[history.WINTER].files
    wanted = {path: text for path, text in files.items() if path.startswith((LIBS, *history.LIBRARIES))}
    return run_tests(wanted, verbose=True)


def summary(run: Run) -> str:
    """The line of the export that says what was installed where, and how the tests ended."""
    done = gating_runs()[run]
    failed = len(done.failing)
    outcome = f"{failed} failed, {len(done.results) - failed} passed" if failed else f"{len(done.results)} passed"
    pins = run.venv.pins
    installed = ", ".join(f"{name} {pins[name]}" for name in ("attrs", *WHEELS))
    return f"{run.number}/{run.attempt} tests on {run.host} with {installed}: {outcome}"


def export() -> str:
    """One page a run, oldest first."""
    return "\n".join(_page(run) for run in RUNS) + "\n"


def _page(run: Run) -> str:
    draw = Stream("ci", history.PACKAGE, "page", run.number, run.attempt)
    done = gating_runs()[run]
    slow = draw.shuffled([result.test_id for result in done.results if result.test_id not in done.failing])[:2]
    others = ", ".join(f"{name} {run.venv.pins[name]}" for name in ("coverage", "idna", "pluggy", "pytest"))
    return "\n".join(
        [
            f"===== run {run.number} | attempt {run.attempt} | {run.event} | {run.at:%a %Y-%m-%d %H:%M} UTC =====",
            f"main at {run.commit.sha} {run.commit.subject}",
            f"queued {draw.integer(1, 48)} s, disk of {run.host} {draw.integer(41, 79)} percent",
            f"venv of {run.venv.built:%Y-%m-%d %H:%M}, lock of {run.venv.commit.sha}; also {others}",
            f"lint passed in {draw.integer(2, 6)} s, libs passed in {draw.integer(7, 15)} s",
            f"preview failed in {draw.integer(2, 5)} s (allowed)",
            *(f"slow: {test_id} {draw.integer(2, 60) / 100:.2f} s" for test_id in slow),
            summary(run),
        ]
    )
