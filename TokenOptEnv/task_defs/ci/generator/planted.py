"""Test modules that every project of this family has, whatever package it is about.

A handbook test leans on a pinned library; a preview test is red until a feature comes; a drawn-sample test takes its
start from the job or, written with more care, from itself. Each is real: it is run, and it fails for the reason that
the story gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from TokenOptEnv.task_defs.ci.generator.libraries import Library

JOB_INFO = "tests/job_info.py"
"""Written by the job before its tests, and in no commit."""


@dataclass(frozen=True, slots=True)
class JobInfo:
    seed: int
    started: datetime

    @property
    def text(self) -> str:
        return f'SEED = {self.seed}\nSTARTED = "{self.started:%Y-%m-%dT%H:%M}"\n'


@dataclass(frozen=True, slots=True)
class Wobble:
    """A test whose outcome follows the job, and the same test on a start of its own."""

    path: str
    test: str
    imports: str
    borrowed: str
    """The line that takes the start from the job: what makes the outcome wobble."""
    fixed: str
    body: str
    fails: Callable[[JobInfo, int], bool]
    """Given the job and the number of names."""

    def text(self, module: str, names: tuple[str, ...], wobbles: bool) -> str:
        imports = [self.imports] if self.imports else []
        imports += [self.borrowed] if wobbles else []
        stated = [] if wobbles else [self._steady(len(names))]
        blocks = [
            f'"""Drawn samples of the names in {module}."""',
            *(["\n\n".join(imports)] if imports else []),
            "\n".join([*stated, f"NAMES = {_listed(names)}"]),
        ]
        return "\n\n".join(blocks) + f"\n\n\ndef {self.test}():\n{self.body}"

    def start(self, names: int, wobbles: bool) -> str:
        """The line that says where the sample starts: what the two versions differ in."""
        return self.borrowed if wobbles else self._steady(names)

    def _steady(self, names: int) -> str:
        """A start of its own, at which the test passes."""
        if "{seed}" not in self.fixed:
            return self.fixed
        noon = datetime(2026, 3, 2, 12, tzinfo=UTC)
        seeds = (seed for seed in range(11, 200) if not self.fails(JobInfo(seed, noon), names))
        return self.fixed.format(seed=next(seeds))

    @property
    def test_id(self) -> str:
        return f"{self.path}::{self.test}"


def _listed(names: tuple[str, ...]) -> str:
    return "(" + ", ".join(f'"{name}"' for name in names) + ")"


TRAIN_WOBBLES = (
    Wobble(
        "tests/test_samples.py",
        "test_a_turned_list_is_another_list",
        "",
        "from tests.job_info import SEED",
        "SEED = {seed}",
        "    start = SEED % len(NAMES)\n"
        "    turned = NAMES[start:] + NAMES[:start]\n"
        "    assert sorted(turned) == sorted(NAMES)\n"
        "    assert turned != NAMES\n",
        lambda job, names: job.seed % names == 0,
    ),
    Wobble(
        "tests/test_draws.py",
        "test_two_draws_are_two_names",
        "",
        "from tests.job_info import SEED",
        "SEED = {seed}",
        "    first = NAMES[SEED % len(NAMES)]\n"
        "    second = NAMES[SEED // len(NAMES) % len(NAMES)]\n"
        "    assert first != second\n",
        lambda job, names: job.seed % names == job.seed // names % names,
    ),
)
HELD_OUT_WOBBLES = (
    Wobble(
        "tests/test_windows.py",
        "test_a_window_of_two_hours_ends_on_its_day",
        "from datetime import datetime, timedelta",
        "from tests.job_info import STARTED",
        'STARTED = "2026-03-02T10:30"',
        "    opened = datetime.fromisoformat(STARTED)\n"
        "    closed = opened + timedelta(hours=2)\n"
        "    assert closed.date() == opened.date(), NAMES[0]\n",
        lambda job, names: job.started.hour >= 22,
    ),
    Wobble(
        "tests/test_rota.py",
        "test_the_late_shift_covers_every_name",
        "from datetime import datetime",
        "from tests.job_info import STARTED",
        'STARTED = "2026-03-02T14:10"',
        "    hours_left = 24 - datetime.fromisoformat(STARTED).hour\n"
        "    assert hours_left * 60 // len(NAMES) >= 120 // len(NAMES) + 1\n",
        lambda job, names: (24 - job.started.hour) * 60 // names < 120 // names + 1,
    ),
)


def handbook_path(held_out: bool) -> str:
    return "tests/test_manual.py" if held_out else "tests/test_handbook.py"


def handbook(library: Library, package: str, module: str, names: tuple[str, ...], held_out: bool) -> str:
    book = "manual" if held_out else "handbook"
    return (
        f'"""The names that {package} offers, as its {book} prints them."""\n\n'
        f"from {library.name} import {library.imports}\n\n"
        f"import {package}.{module} as listed\n\n"
        f"NAMES = {_listed(names)}\n\n\n"
        f"def {library.test}():\n{library.body}\n\n"
        f"def test_every_name_of_the_{book}_is_there():\n"
        f"    assert all(hasattr(listed, name) for name in NAMES)\n"
    )


def preview_path(held_out: bool) -> str:
    return "tests/test_upcoming.py" if held_out else "tests/test_preview.py"


def preview_test(held_out: bool) -> str:
    return "test_the_archive_format_is_stated" if held_out else "test_the_format_version_is_exported"


def preview(package: str, held_out: bool) -> str:
    name = "ARCHIVE_FORMAT" if held_out else "FORMAT_VERSION"
    when = "comes with the next archive layout" if held_out else "is there with the next release"
    return (
        f'"""What {package} will offer; red until it {when}."""\n\n'
        f"import {package}\n\n\n"
        f"def {preview_test(held_out)}():\n"
        f'    assert hasattr({package}, "{name}")\n'
    )
