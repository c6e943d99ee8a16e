"""The red night's test report: what was recorded of the bug, among the tests that passed."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence

from TokenOptEnv.task_defs.bugfix.generator.verified import Mutant, Verified
from TokenOptEnv.task_defs.execution_report import ReportedTest, render

_DEFINED = re.compile(r"^def (test_\w+)", re.MULTILINE)


def present(records: Verified, files: Mapping[str, str]) -> list[tuple[str, str]]:
    """The tests that a state of the repository has, in the order of a run."""
    defined = {path: set(_DEFINED.findall(text)) for path, text in files.items() if path.startswith("tests/")}
    return [(path, name) for path, name in records.tests if name.partition("[")[0] in defined.get(path, ())]


def report_of(
    records: Verified,
    files: Mapping[str, str],
    bug: Mutant | None,
    shown: Mapping[str, str],
    others: Sequence[tuple[str, str]] = (),
) -> str:
    """The run of `files`, with `bug` planted or without any; `shown` are the sources that tracebacks print.

    `others` are tests of other packages, which pass.
    """
    failing = {(test.path, test.name): test for test in (bug.failing if bug else ())}
    tests = [failing.get(each) or _passed(*each) for each in present(records, files)]
    tests += [_passed(*each) for each in others]
    printed = render(tests, shown, verbose=True)
    return printed.replace(f"Python {sys.version_info.major}.{sys.version_info.minor}", records.python, 1)


def failures_of(records: Verified, bug: Mutant, shown: Mapping[str, str]) -> str:
    """The failing tests alone, as a run of just them prints them."""
    printed = render(bug.failing, shown, verbose=True)
    return printed.replace(f"Python {sys.version_info.major}.{sys.version_info.minor}", records.python, 1)


def symptom_line(test: ReportedTest) -> str:
    """The line of the report that says what went wrong, as it is printed."""
    said = test.fault.text.split("\n")[0] if test.fault else ""
    return f"E       {said}".rstrip()


def _passed(path: str, name: str) -> ReportedTest:
    return ReportedTest(path=path, name=name, outcome="passed", fault=None, stdout="", log=(), warnings=())
