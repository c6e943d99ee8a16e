"""Prints a run of tests as pytest does: progress, failures with their source, warnings, summary.

Durations are the one thing a run cannot repeat, so the last line states a nominal one, by the number of tests.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence

from TokenOptEnv.models.base import Frozen

_WIDTH = 80
_LETTERS = {"passed": ".", "failed": "F", "error": "E"}
_DOCS = "-- Docs: https://docs.pytest.org/en/stable/how-to/capture-warnings.html"


class ReportedFrame(Frozen):
    path: str
    line: int
    function: str
    first_line: int
    arguments: tuple[tuple[str, str], ...]


class ReportedFault(Frozen):
    kind: str
    text: str
    frames: tuple[ReportedFrame, ...]
    earlier: ReportedFault | None
    """The exception it was raised from, or while handling."""
    explicit: bool


class ReportedWarning(Frozen):
    path: str
    line: int
    kind: str
    message: str


class ReportedTest(Frozen):
    path: str
    name: str
    """Empty where the module itself could not be imported."""
    outcome: str
    fault: ReportedFault | None
    stdout: str
    log: tuple[str, ...]
    warnings: tuple[ReportedWarning, ...]

    @property
    def test_id(self) -> str:
        return f"{self.path}::{self.name}" if self.name else self.path


def render(tests: Sequence[ReportedTest], files: Mapping[str, str], *, verbose: bool) -> str:
    count = len([test for test in tests if test.name])
    lines = [
        _rule("=", "test session starts"),
        f"platform linux -- Python {sys.version_info.major}.{sys.version_info.minor}",
        "rootdir: /build",
        f"collected {count} items" if count != 1 else "collected 1 item",
        "",
        *(_verbose_progress(tests) if verbose else _progress(tests)),
        "",
    ]
    errors = [test for test in tests if test.outcome == "error"]
    if errors:
        lines.append(_rule("=", "ERRORS"))
        for test in errors:
            what = f"ERROR at setup of {_heading(test)}" if test.name else f"ERROR collecting {test.path}"
            lines += [_rule("_", what), *_failure(test, files)]
    failures = [test for test in tests if test.outcome == "failed"]
    if failures:
        lines.append(_rule("=", "FAILURES"))
        for test in failures:
            lines += [_rule("_", _heading(test)), *_failure(test, files)]
    lines += _warnings_summary(tests, files)
    if errors or failures:
        lines.append(_rule("=", "short test summary info"))
        lines += [
            _summary_line(word, test) for word, some in (("FAILED", failures), ("ERROR", errors)) for test in some
        ]
    lines.append(_rule("=", _totals(tests)))
    return "\n".join(lines) + "\n"


def _rule(character: str, text: str) -> str:
    """Centred as pytest's terminal writer centres it."""
    fill = max((_WIDTH - len(text) - 2) // 2, 1)
    line = f"{character * fill} {text} {character * fill}"
    return line + character if len(line) + 1 <= _WIDTH else line


def _heading(test: ReportedTest) -> str:
    return test.name.replace("::", ".")


def _progress(tests: Sequence[ReportedTest]) -> list[str]:
    lines = []
    paths = list(dict.fromkeys(test.path for test in tests))
    done = 0
    for path in paths:
        letters = "".join(_LETTERS[test.outcome] for test in tests if test.path == path)
        room = _WIDTH - len("[100%]") - 1
        first = room - len(path) - 1
        rows = [letters[:first], *(letters[at : at + room] for at in range(first, len(letters), room))]
        for number, row in enumerate(rows):
            done += len(row)
            start = f"{path} {row}" if number == 0 else row
            lines.append(f"{start:<{room}} [{done * 100 // len(tests):>3}%]")
    return lines


def _verbose_progress(tests: Sequence[ReportedTest]) -> list[str]:
    lines = []
    for number, test in enumerate(tests, start=1):
        start = f"{test.test_id} {test.outcome.upper()}"
        lines.append(f"{start:<{_WIDTH - 7}} [{number * 100 // len(tests):>3}%]")
    return lines


def _failure(test: ReportedTest, files: Mapping[str, str]) -> list[str]:
    if test.fault is None:
        return []
    lines = _fault(test.fault, files)
    if test.stdout:
        lines += [_rule("-", "Captured stdout call"), *test.stdout.rstrip("\n").split("\n")]
    if test.log:
        lines += [_rule("-", "Captured log call"), *test.log]
    return lines


def _fault(fault: ReportedFault, files: Mapping[str, str]) -> list[str]:
    lines: list[str] = []
    if fault.earlier is not None and fault.earlier.frames:
        joint = (
            "The above exception was the direct cause of the following exception:"
            if fault.explicit
            else "During handling of the above exception, another exception occurred:"
        )
        lines += [*_fault(fault.earlier, files), "", joint]
    said = [f"E       {line}".rstrip() for line in fault.text.split("\n")]
    if not fault.frames:
        return [*lines, *said]
    for number, frame in enumerate(fault.frames):
        first, last = number == 0, number == len(fault.frames) - 1
        if not (first or last):
            lines += [f"{frame.path}:{frame.line}: in {frame.function}", f"    {_line(files, frame.path, frame.line)}"]
            continue
        lines += ["", *_arguments(frame), *_source(frame, files)]
        if last:
            lines += [*said, "", f"{frame.path}:{frame.line}: {fault.kind}"]
        else:
            lines += ["", f"{frame.path}:{frame.line}: ", ("_ " * (_WIDTH // 2))]
    return lines


def _arguments(frame: ReportedFrame) -> list[str]:
    if not frame.arguments:
        return []
    lines = [""]
    for name, shown in frame.arguments:
        piece = f"{name} = {shown}"
        if lines[-1] and len(lines[-1]) + len(piece) + 2 > _WIDTH:
            lines.append("")
        lines[-1] = f"{lines[-1]}, {piece}" if lines[-1] else piece
    return [*lines, ""]


def _source(frame: ReportedFrame, files: Mapping[str, str]) -> list[str]:
    """The function down to the end of the statement that failed, which is marked."""
    text = files[frame.path].split("\n")
    end = _statement_end(files[frame.path], frame.line)
    top = frame.first_line if frame.function != "<module>" else frame.line
    indent = len(text[top - 1]) - len(text[top - 1].lstrip())
    lines = []
    for number in range(top, end + 1):
        mark = ">   " if number == frame.line else "    "
        lines.append(f"{mark}{text[number - 1][indent:]}".rstrip())
    return lines


def _statement_end(source: str, line: int) -> int:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return line
    ends = [
        node.end_lineno or line
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and not hasattr(node, "body") and node.lineno <= line <= (node.end_lineno or line)
    ]
    return max(ends, default=line)


def _line(files: Mapping[str, str], path: str, number: int) -> str:
    return files[path].split("\n")[number - 1].strip()


def _warnings_summary(tests: Sequence[ReportedTest], files: Mapping[str, str]) -> list[str]:
    grouped: dict[ReportedWarning, list[str]] = {}
    for test in tests:
        for warning in test.warnings:
            grouped.setdefault(warning, []).append(test.test_id)
    if not grouped:
        return []
    lines = [_rule("=", "warnings summary")]
    for warning, ids in grouped.items():
        counted = [
            f"{name}: {ids.count(name)} warnings" if ids.count(name) > 1 else name for name in dict.fromkeys(ids)
        ]
        lines += [
            *counted,
            f"  /build/{warning.path}:{warning.line}: {warning.kind}: {warning.message}",
            f"    {_line(files, warning.path, warning.line)}",
            "",
        ]
    return [*lines, _DOCS]


def _summary_line(word: str, test: ReportedTest) -> str:
    said = test.fault.text.split("\n")[0] if test.fault else ""
    line = f"{word} {test.test_id} - {said}"
    return line if len(line) <= _WIDTH else line[: _WIDTH - 3] + "..."


def _totals(tests: Sequence[ReportedTest]) -> str:
    counts = [(len([test for test in tests if test.outcome == kind]), kind) for kind in ("failed", "passed", "error")]
    parts = [f"{count} {kind}" for count, kind in counts if count]
    warned = sum(len(test.warnings) for test in tests)
    if warned:
        parts.insert(len(parts), f"{warned} warning{'s' if warned > 1 else ''}")
    return f"{', '.join(parts)} in {0.05 + 0.01 * len(tests):.2f}s"
