"""Three weeks of nights: what each had checked out, and what its tests and its soak really said."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.bugfix.cases.undead_keys.commits import (
    BLOCKS,
    BUG,
    CHOOSE,
    COMMITS,
    CUT_OFF,
    DROP,
    FILTERS,
    FOUR,
    ONE_TABLE,
    ROUND,
    SCAN,
    STRICT,
    TELL,
)
from TokenOptEnv.task_defs.bugfix.history import Commit
from TokenOptEnv.task_defs.bugfix.sources import package_files
from TokenOptEnv.task_defs.execution import Call, Trial, run_batch
from TokenOptEnv.task_defs.execution_report import ReportedTest

FILES = BUG.applied(package_files("siltstore"))
_FIRST = datetime(2025, 9, 17, 2, 0, 5, tzinfo=UTC)
_FIRST_NUMBER = 1291
_BEFORE = "4f0be917"
"""What was checked out before the history that is shown."""
_OPERATIONS, _WEEKEND_OPERATIONS = 480, 160
_SATURDAY = 5
_ARCHIVED = ("compaction", "levels", "snapshots", "soak")
"""Test modules whose dots the archive keeps."""
_LETTERS = {"passed": ".", "failed": "F"}

_CHECKED_OUT: tuple[Commit | None, ...] = (
    None,
    ONE_TABLE,
    CUT_OFF,
    CUT_OFF,
    FILTERS,
    FILTERS,
    FILTERS,
    ROUND,
    CHOOSE,
    CHOOSE,
    BLOCKS,
    BLOCKS,
    BLOCKS,
    DROP,
    DROP,
    FOUR,
    SCAN,
    TELL,
    TELL,
    TELL,
    STRICT,
)
"""By night, from the first on: the newest commit that was there. A night comes before its day's commits."""


@dataclass(frozen=True)
class Night:
    number: int
    at: datetime
    head: Commit | None
    tests: tuple[ReportedTest, ...]
    soak: tuple[str, ...]
    """What the soak printed; the last line is its verdict."""
    operations: int

    @property
    def sha(self) -> str:
        return self.head.sha if self.head else _BEFORE

    @property
    def verdict(self) -> str:
        """The line of the archive that says what became of the night's keys, and at which commit."""
        return f"soak {self.number} at {self.sha}: {self.soak[-1]}"


@cache
def states() -> Mapping[Commit | None, Mapping[str, str]]:
    """The files at each commit, and before all of them."""
    found: dict[Commit | None, Mapping[str, str]] = {}
    files: Mapping[str, str] = FILES
    for commit in COMMITS:
        found[commit] = files
        for edit in reversed(commit.edits):
            files = edit.undone(files)
    found[None] = files
    return found


@cache
def nights() -> tuple[Night, ...]:
    """Oldest first. One interpreter runs them all: the tests once a commit, the soak once a night."""
    plans = [(_FIRST_NUMBER + day, _FIRST + timedelta(days=day), head) for day, head in enumerate(_CHECKED_OUT)]
    heads = list(dict.fromkeys(_CHECKED_OUT))
    asked = {head: [(number, _operations(at)) for number, at, each in plans if each is head] for head in heads}
    trials = [
        Trial(_archived(states()[head]), tuple(Call("siltstore.soak", "nightly", pair) for pair in asked[head]), True)
        for head in heads
    ]
    tests: dict[Commit | None, tuple[ReportedTest, ...]] = {}
    soaks: dict[int, tuple[str, ...]] = {}
    for head, result in zip(heads, run_batch(trials), strict=True):
        if result is None:
            raise ScenarioInvalid("a designed night came to no end")
        tests[head] = result.tests
        for (number, _), outcome in zip(asked[head], result.outcomes, strict=True):
            soaks[number] = tuple(literal_eval(outcome.values[0]).split("\n"))
    return tuple(Night(number, at, head, tests[head], soaks[number], _operations(at)) for number, at, head in plans)


def _archived(files: Mapping[str, str]) -> dict[str, str]:
    wanted = {"tests/conftest.py", *(f"tests/test_{name}.py" for name in _ARCHIVED)}
    return {path: text for path, text in files.items() if path in wanted or path.startswith("siltstore/")}


def archive() -> str:
    """One page a night, oldest first."""
    return "\n".join(_page(night) for night in nights()) + "\n"


def _operations(at: datetime) -> int:
    """The machines are lent out on weekends: a short soak has to do."""
    return _WEEKEND_OPERATIONS if at.weekday() >= _SATURDAY else _OPERATIONS


def _page(night: Night) -> str:
    draw = Stream("bugfix", "siltstore", "night", night.number)
    failed = sum(test.outcome != "passed" for test in night.tests)
    passed = len(night.tests) - failed
    minutes = draw.integer(2, 9)
    return "\n".join(
        [
            f"========== nightly {night.number}, {night.at:%a %Y-%m-%d %H:%M} UTC ==========",
            f"linux-large-{draw.integer(1, 19):02d}, waited {draw.integer(1, 90)} s, {minutes} min in all",
            f"HEAD is now at {night.sha} {night.head.subject if night.head else 'Levels name tables that share keys'}",
            f"$ python -m pytest -q {' '.join(f'tests/test_{name}.py' for name in _ARCHIVED)}",
            *(f"{name} {_dots(night, name)}" for name in _ARCHIVED),
            f"{f'{failed} failed, ' if failed else ''}{passed} passed",
            f"$ python -m siltstore.soak --seed {night.number} --operations {night.operations}",
            *night.soak[:-1],
            night.verdict,
            f"peak memory {draw.integer(41, 77)} MiB",
        ]
    )


def _dots(night: Night, name: str) -> str:
    return "".join(_LETTERS[test.outcome] for test in night.tests if test.path == f"tests/test_{name}.py")
