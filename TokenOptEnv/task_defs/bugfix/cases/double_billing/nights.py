"""Three weeks of nights against recorded days: which build ran, and what its tests and its books really said."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.bugfix.cases.double_billing.commits import (
    BUG,
    COLUMNS,
    COMMITS,
    GRACE,
    HORIZON,
    OLDEST_FIRST,
    PACKAGE,
    ROUND_ONCE,
    SAY_LATE,
    SLOW,
    TARIFF_NAMES,
    TENANT_IDS,
)
from TokenOptEnv.task_defs.bugfix.history import Commit
from TokenOptEnv.task_defs.bugfix.sources import package_files
from TokenOptEnv.task_defs.execution import Call, Trial, run_batch, run_calls
from TokenOptEnv.task_defs.execution_report import ReportedTest

FILES = BUG.applied(package_files(PACKAGE))
TRACE = ("meterline.fleet", "trace", (506, 1, 40))
"""The recorded day of the complaint: seed, outages, events a tenant."""
_FIRST = datetime(2025, 10, 7, 1, 30, 11, tzinfo=UTC)
_FIRST_NUMBER = 401
_LETTERS = {"passed": ".", "failed": "F"}


@dataclass(frozen=True)
class Build:
    name: str
    commit: Commit
    at: datetime
    outages: tuple[int, ...]
    """One number a night that ran on it: how many gateways were cut off in the recorded day."""


BUILDS = (
    Build("b-611", ROUND_ONCE, datetime(2025, 10, 6, 15, 10, tzinfo=UTC), (2, 0)),
    Build("b-612", HORIZON, datetime(2025, 10, 8, 7, 55, tzinfo=UTC), (4, 0)),
    Build("b-613", GRACE, datetime(2025, 10, 10, 9, 2, tzinfo=UTC), (2, 4, 0)),
    Build("b-614", TENANT_IDS, datetime(2025, 10, 13, 13, 31, tzinfo=UTC), (4, 0)),
    Build("b-615", OLDEST_FIRST, datetime(2025, 10, 15, 8, 20, tzinfo=UTC), (4, 2)),
    Build("b-616", TARIFF_NAMES, datetime(2025, 10, 17, 14, 45, tzinfo=UTC), (0, 0)),
    Build("b-617", COLUMNS, datetime(2025, 10, 19, 12, 6, tzinfo=UTC), (0, 4, 0)),
    Build("b-618", SLOW, datetime(2025, 10, 22, 14, 38, tzinfo=UTC), (2, 4, 0)),
    Build("b-619", SAY_LATE, datetime(2025, 10, 25, 11, 17, tzinfo=UTC), (4, 0)),
)


@dataclass(frozen=True)
class Night:
    number: int
    at: datetime
    build: Build
    tests: tuple[ReportedTest, ...]
    books: tuple[str, ...]
    """What the night printed; the last line is its verdict."""

    @property
    def verdict(self) -> str:
        """The line of the archive that says what became of late arrivals, and under which build."""
        return f"books {self.number} of {self.build.name}: {self.books[-1]}"

    @property
    def had_late(self) -> bool:
        return not self.books[-1].startswith("0 late")

    @property
    def billed_twice(self) -> bool:
        return ", 0 events billed twice" not in self.books[-1]


@cache
def states() -> Mapping[Commit, Mapping[str, str]]:
    """The files at each commit."""
    found: dict[Commit, Mapping[str, str]] = {}
    files: Mapping[str, str] = FILES
    for commit in COMMITS:
        found[commit] = files
        for edit in reversed(commit.edits):
            files = edit.undone(files)
    return found


@cache
def nights() -> tuple[Night, ...]:
    """Oldest first. One interpreter runs them all: the tests once a build, the books once a night."""
    trials: list[Trial] = []
    made: list[Night] = []
    number = _FIRST_NUMBER
    for build in BUILDS:
        calls = [Call("meterline.fleet", "night", (number + turn, cut)) for turn, cut in enumerate(build.outages)]
        trials.append(Trial(states()[build.commit], tuple(calls), tests=True))
        number += len(calls)
    for build, result in zip(BUILDS, run_batch(trials), strict=True):
        if result is None:
            raise ScenarioInvalid("a designed night came to no end")
        for outcome in result.outcomes:
            day = len(made)
            books = tuple(literal_eval(outcome.values[0]).split("\n"))
            made.append(Night(_FIRST_NUMBER + day, _FIRST + timedelta(days=day), build, result.tests, books))
    return tuple(made)


def last_proven_good() -> Build:
    """The last build with late arrivals before any event was billed twice."""
    first_bad = next(place for place, night in enumerate(nights()) if night.billed_twice)
    return [night.build for night in nights()[:first_bad] if night.had_late][-1]


def archive() -> str:
    """One page a night, oldest first."""
    return "\n".join(_page(night) for night in nights()) + "\n"


def trace_of_day(day: int) -> str:
    """What the pipeline logged on one day of the recording."""
    lines = [line for line in _trace() if line.split()[2] == str(day)]
    return "\n".join(lines) + "\n"


@cache
def _trace() -> tuple[str, ...]:
    (outcome,) = run_calls(FILES, [Call(*TRACE)])
    return tuple(literal_eval(outcome.values[0]).split("\n"))


def _page(night: Night) -> str:
    draw = Stream("bugfix", PACKAGE, "night", night.number)
    passed = sum(test.outcome == "passed" for test in night.tests)
    return "\n".join(
        [
            f"========== night {night.number}, {night.at:%a %Y-%m-%d %H:%M} UTC ==========",
            f"books-{draw.integer(1, 6)}, build {night.build.name}, recorded day {draw.integer(210, 260)}, "
            f"waited {draw.integer(1, 60)} s",
            f"firmware 3.2 on {draw.integer(40, 71)} gateways, 2.9 on {draw.integer(3, 9)}",
            *_dots(night),
            f"{passed} passed",
            *night.books[:-1],
            night.verdict,
            f"{draw.integer(31, 58)} MiB, {draw.integer(2, 9)} s",
        ]
    )


def _dots(night: Night) -> list[str]:
    paths = list(dict.fromkeys(test.path for test in night.tests))
    dots = {path: "".join(_LETTERS[test.outcome] for test in night.tests if test.path == path) for path in paths}
    return [f"{path.removeprefix('tests/test_').removesuffix('.py')} {dots[path]}" for path in paths]
