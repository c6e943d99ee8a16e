"""Runs this project's own code cases: a package under its tests, or under hidden calls, in a fresh interpreter.

A code case must be real: the failing report in it is the report of that failure, and a candidate patch is right
because it was run. Only packages and patches that ship with this project are run here; text received from an agent
never is, for a fresh interpreter is a clean table and not a sandbox.

Everything that differs between two runs is fixed or normalised (hash seed, environment, addresses, paths,
durations), so that one Python minor version gives one sequence of bytes. Hidden tests are data: the child is told
what to call, never what is expected, and the comparison happens here.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, TypeAlias

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.task_defs.execution_report import ReportedTest, render

_CHILD = Path(__file__).with_name("execution_child.py")
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
FIXED_ADDRESS = "0x7f3a5c0de0f0"
"""What every address in a repr or a report is replaced with."""
_FIXED_ROOT = "/build"
_TIME_LIMIT_S = 20.0


class TestOutcome(StrEnum):
    __test__: ClassVar[bool] = False
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    """It could not be run: an import, a fixture or a tear-down broke."""


@dataclass(frozen=True, slots=True)
class TestResult:
    __test__: ClassVar[bool] = False
    test_id: str
    """`tests/test_x.py::test_name[label]`"""
    outcome: TestOutcome
    message: str
    """The exception's text; empty where the test passed."""


@dataclass(frozen=True, slots=True)
class TestRun:
    __test__: ClassVar[bool] = False
    results: tuple[TestResult, ...]
    report: str
    """The run as pytest would print it."""

    @property
    def failing(self) -> tuple[str, ...]:
        return tuple(result.test_id for result in self.results if result.outcome is not TestOutcome.PASSED)


@dataclass(frozen=True, slots=True)
class Call:
    """`module.function(*args, **kwargs)`, and then each of `then` on the object it returned.

    Arguments are literals; a call where an object of the package is wanted, as its own `then` leaves it; a reference
    where a function is; and, in `then`, what an earlier step returned.
    """

    module: str
    function: str
    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = field(default_factory=dict)
    then: tuple[Method, ...] = ()


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the object, or an attribute to read; dotted names reach its parts (`clock.advance`)."""

    name: str
    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = field(default_factory=dict)
    on: Earlier | None = None
    """Called on what that step returned instead of on the object."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A function or class itself, not called."""

    module: str
    name: str


@dataclass(frozen=True, slots=True)
class Earlier:
    """What step number `step` of the same `then` returned, counted from 0."""

    step: int


Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | Call | Reference | Earlier | None"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was seen: the repr of the result, or of each step's result, or `raises <type>`."""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HiddenTest:
    name: str
    call: Call
    expected: Outcome


def run_tests(
    files: Mapping[str, str],
    tests: Sequence[str] | None = None,
    *,
    roots: Sequence[str] = (".", "src"),
    verbose: bool = False,
    log_level: str = "WARNING",
    time_limit_s: float = _TIME_LIMIT_S,
) -> TestRun:
    """Run test modules (default: every `test_*.py` of `files`, in path order) against `files`.

    `roots` are the folders that imports are found in.
    """
    wanted = (
        sorted(path for path in files if path.rpartition("/")[2].startswith("test_")) if tests is None else list(tests)
    )
    missing = [path for path in wanted if path not in files]
    if missing or not wanted:
        raise ScenarioInvalid(f"no test module {missing[0]!r} among the files" if missing else "no test module to run")
    job = {"job": "tests", "tests": wanted, "roots": list(roots), "log_level": log_level}
    answer = _run(files, job, time_limit_s)
    if answer is None:
        raise ScenarioInvalid(f"the tests did not come to an end in {time_limit_s:g} s, or took the interpreter down")
    reported = [ReportedTest.model_validate(result) for result in answer]
    results = tuple(
        TestResult(
            test_id=test.test_id, outcome=TestOutcome(test.outcome), message=test.fault.text if test.fault else ""
        )
        for test in reported
    )
    return TestRun(results=results, report=render(reported, files, verbose=verbose))


def run_calls(
    files: Mapping[str, str],
    calls: Sequence[Call],
    *,
    roots: Sequence[str] = (".", "src"),
    time_limit_s: float = _TIME_LIMIT_S,
) -> tuple[Outcome, ...]:
    """What each call gives on `files`. An endless loop or a crash is an outcome too: no candidate may stop a build."""
    job = {"job": "calls", "calls": [encoded_call(call) for call in calls], "roots": list(roots)}
    answer = _run(files, job, time_limit_s)
    if answer is None:
        return tuple(Outcome(("does not end",)) for _ in calls)
    return tuple(Outcome(tuple(values)) for values in answer)


@dataclass(frozen=True, slots=True)
class Trial:
    """One state of a package in a batch: whether its tests are to be run, and what is to be called."""

    files: Mapping[str, str]
    calls: tuple[Call, ...] = ()
    tests: bool = False


@dataclass(frozen=True, slots=True)
class TrialResult:
    tests: tuple[ReportedTest, ...]
    """What `execution_report.render` prints."""
    outcomes: tuple[Outcome, ...]


def run_batch(
    trials: Sequence[Trial], *, roots: Sequence[str] = (".", "src"), trial_limit_s: float = 2.0
) -> tuple[TrialResult | None, ...]:
    """Many small runs for the price of one interpreter, which forks for each; None where one came to no end."""
    files = {f"t{place}/{path}": text for place, trial in enumerate(trials) for path, text in trial.files.items()}
    job = {
        "job": "batch",
        "roots": list(roots),
        "limit_s": trial_limit_s,
        "trials": [
            {
                "folder": f"t{place}",
                "tests": sorted(p for p in trial.files if trial.tests and p.rpartition("/")[2].startswith("test_")),
                "calls": [encoded_call(call) for call in trial.calls],
            }
            for place, trial in enumerate(trials)
        ],
    }
    answer = _run(files, job, _TIME_LIMIT_S + trial_limit_s * len(trials))
    if answer is None:
        raise ScenarioInvalid("a batch of runs took its interpreter down")
    return tuple(None if done is None else _trial_result(done) for done in answer)


def _trial_result(done: Mapping[str, Any]) -> TrialResult:
    return TrialResult(
        tests=tuple(ReportedTest.model_validate(result) for result in done["tests"]),
        outcomes=tuple(Outcome(tuple(values)) for values in done["calls"]),
    )


def verdict(files: Mapping[str, str], hidden_tests: Sequence[HiddenTest]) -> bool:
    """Does every hidden test see what it expects?"""
    outcomes = run_calls(files, [test.call for test in hidden_tests])
    return all(outcome == test.expected for outcome, test in zip(outcomes, hidden_tests, strict=True))


def _run(files: Mapping[str, str], job: Mapping[str, Any], time_limit_s: float) -> Any:
    """What the child answered, or None where it never got to that."""
    with TemporaryDirectory(prefix="run-") as folder:
        root = Path(folder).resolve()
        for path, text in files.items():
            target = (root / path).resolve()
            if not target.is_relative_to(root):
                raise ScenarioInvalid(f"path {path!r} leads out of the run's folder; use a relative path")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        # Not -I: it would ignore PYTHONHASHSEED. The environment is ours alone, so there is nothing to isolate from.
        command = [sys.executable, "-s", "-S", "-P", "-B", "-X", "utf8", str(_CHILD)]
        try:
            done = subprocess.run(
                command,
                input=json.dumps(job),
                env={"PYTHONHASHSEED": "0", "TZ": "UTC"},
                cwd=root,
                capture_output=True,
                encoding="utf-8",
                timeout=time_limit_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        if done.returncode != 0 or not done.stdout:
            return None
        return json.loads(_normalised(done.stdout, root))


def _normalised(text: str, root: Path) -> str:
    return without_addresses(text.replace(str(root), _FIXED_ROOT))


def without_addresses(text: str) -> str:
    return _ADDRESS.sub(FIXED_ADDRESS, text)


def encoded_call(call: Call) -> dict[str, Any]:
    """As `execution_child.run_calls` reads it."""
    return {
        "module": call.module,
        "function": call.function,
        "args": [_encoded(item) for item in call.args],
        "kwargs": [[name, _encoded(item)] for name, item in call.kwargs.items()],
        "then": [
            {
                "name": step.name,
                "on": None if step.on is None else step.on.step,
                "args": [_encoded(item) for item in step.args],
                "kwargs": [[name, _encoded(item)] for name, item in step.kwargs.items()],
            }
            for step in call.then
        ],
    }


def _encoded(value: Value) -> Any:
    if isinstance(value, Call):
        return {"call": encoded_call(value)}
    if isinstance(value, Reference):
        return {"reference": [value.module, value.name]}
    if isinstance(value, Earlier):
        return {"earlier": value.step}
    if isinstance(value, list):
        return [_encoded(item) for item in value]
    if isinstance(value, dict):
        return {"map": [[key, _encoded(item)] for key, item in value.items()]}
    return value
