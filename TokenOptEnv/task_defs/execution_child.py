"""The other side of `execution`: runs tests or calls in a fresh interpreter and writes what happened as JSON.

It imports the standard library alone, because it runs with no site packages, and it judges nothing: what was
expected stays in the parent. Test modules get a small `pytest` (raises, parametrize, fixture) and rewritten
asserts, so that a failure shows the values that were compared and not just the line.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.machinery
import importlib.util
import inspect
import io
import json
import logging
import os
import re
import signal
import sys
import traceback
import types
import unittest
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

_REPR_CHARACTERS = 240
_DIFF_LINES = 12
_RAISES = "raises"
_LOG_FORMAT = "%(levelname)-8s %(name)s:%(filename)s:%(lineno)d %(message)s"
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


# What a failed assert says


def _shown(value: object) -> str:
    """A repr that fits on a line and never raises: the object under test may be the broken one."""
    try:
        text = repr(value)
    except Exception as fault:
        text = f"<[{type(fault).__name__} raised in repr()] {type(value).__name__} object>"
    if len(text) > _REPR_CHARACTERS:
        half = (_REPR_CHARACTERS - 3) // 2
        text = f"{text[:half]}...{text[-half:]}"
    return text


def _sequence_difference(left: Sequence[object], right: Sequence[object]) -> list[str]:
    lines = []
    for index, (mine, theirs) in enumerate(zip(left, right, strict=False)):
        if mine != theirs:
            lines.append(f"At index {index} diff: {_shown(mine)} != {_shown(theirs)}")
            break
    for side, longer, shorter in (("Left", left, right), ("Right", right, left)):
        extra = len(longer) - len(shorter)
        if extra > 0:
            items = "one more item" if extra == 1 else f"{extra} more items, first extra item"
            lines.append(f"{side} contains {items}: {_shown(longer[len(shorter)])}")
    return lines


def _mapping_difference(left: dict[Any, Any], right: dict[Any, Any]) -> list[str]:
    lines = []
    same = [key for key in left if key in right and left[key] == right[key]]
    if same:
        lines.append(f"Omitting {len(same)} identical items, use -vv to show")
    differing = [key for key in left if key in right and left[key] != right[key]]
    if differing:
        lines.append("Differing items:")
        lines += [
            f"{{{_shown(key)}: {_shown(left[key])}}} != {{{_shown(key)}: {_shown(right[key])}}}" for key in differing
        ]
    for side, mine, theirs in (("Left", left, right), ("Right", right, left)):
        extra = {key: mine[key] for key in mine if key not in theirs}
        if extra:
            lines += [f"{side} contains {len(extra)} more item{'s' if len(extra) > 1 else ''}:", _shown(extra)]
    return lines


def _text_difference(left: str, right: str) -> list[str]:
    lines: list[str] = []
    mine, theirs = left.splitlines(), right.splitlines()
    for index in range(max(len(mine), len(theirs))):
        here = mine[index] if index < len(mine) else None
        there = theirs[index] if index < len(theirs) else None
        if here == there:
            lines.append(f"  {here}")
            continue
        if there is not None:
            lines.append(f"- {there}")
        if here is not None:
            lines.append(f"+ {here}")
    return lines


def _difference(left: object, right: object) -> list[str]:
    lines: list[str] = []
    if isinstance(left, str) and isinstance(right, str):
        lines = _text_difference(left, right)
    elif isinstance(left, dict) and isinstance(right, dict):
        lines = _mapping_difference(left, right)
    elif isinstance(left, list | tuple) and type(left) is type(right):
        lines = _sequence_difference(left, cast("Sequence[object]", right))
    if len(lines) > _DIFF_LINES:
        hidden = len(lines) - _DIFF_LINES
        lines = [*lines[:_DIFF_LINES], "", f"...Full output truncated ({hidden} lines hidden), use '-vv' to show"]
    return ["", *lines] if lines else []


def _where(value: object, source: str | None) -> list[str]:
    return [] if source is None else [f" +  where {_shown(value)} = {source}"]


def _explain_compare(
    left: object, operator: str, right: object, sources: tuple[str | None, str | None], *message: object
) -> str:
    difference = [f"  {line}".rstrip() for line in _difference(left, right)] if operator == "==" else []
    where = _where(left, sources[0]) + [
        line.replace("where", "and  ", 1) if sources[0] else line for line in _where(right, sources[1])
    ]
    return "\n".join([*map(str, message), f"assert {_shown(left)} {operator} {_shown(right)}", *difference, *where])


def _explain_truth(value: object, negated: bool, source: str | None, *message: object) -> str:
    return "\n".join([*map(str, message), f"assert {'not ' if negated else ''}{_shown(value)}", *_where(value, source)])


_LEFT, _RIGHT, _COMPARE, _TRUTH = "@left", "@right", "@explain_compare", "@explain_truth"


def _source_of(node: ast.expr) -> ast.Constant:
    """Calls and attributes are worth a "where" line; names and literals explain themselves."""
    return ast.Constant(ast.unparse(node) if isinstance(node, ast.Call | ast.Attribute | ast.Subscript) else None)


class _AssertRewriter(ast.NodeTransformer):
    """`assert a == b` keeps a and b, so that they can be shown without being evaluated twice."""

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        message = [node.msg] if node.msg else []
        test = node.test
        kept: list[tuple[str, ast.expr]]
        explanation: ast.expr
        condition: ast.expr
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            right = test.comparators[0]
            kept = [(_LEFT, test.left), (_RIGHT, right)]
            condition = ast.Compare(ast.Name(_LEFT, ast.Load()), test.ops, [ast.Name(_RIGHT, ast.Load())])
            sources = ast.Tuple([_source_of(test.left), _source_of(right)], ast.Load())
            operator = ast.Constant(_OPERATORS[type(test.ops[0])])
            names: list[ast.expr] = [ast.Name(_LEFT, ast.Load()), operator, ast.Name(_RIGHT, ast.Load()), sources]
            explanation = ast.Call(ast.Name(_COMPARE, ast.Load()), names + message, [])
        else:
            negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
            value = test.operand if isinstance(test, ast.UnaryOp) and negated else test
            kept = [(_LEFT, value)]
            condition = ast.Name(_LEFT, ast.Load())
            if negated:
                condition = ast.UnaryOp(ast.Not(), condition)
            told: list[ast.expr] = [ast.Name(_LEFT, ast.Load()), ast.Constant(negated), _source_of(value)]
            explanation = ast.Call(ast.Name(_TRUTH, ast.Load()), told + message, [])
        raised = ast.Raise(ast.Call(ast.Name("AssertionError", ast.Load()), [explanation], []), None)
        statements: list[ast.stmt] = [
            ast.Assign([ast.Name(name, ast.Store())], kept_value) for name, kept_value in kept
        ]
        statements.append(ast.If(ast.UnaryOp(ast.Not(), condition), [raised], []))
        for statement in statements:
            ast.copy_location(statement, node)
            ast.fix_missing_locations(statement)
        ast.copy_location(raised, node)
        return statements


class _TestLoader(importlib.machinery.SourceFileLoader):
    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> types.CodeType:  # type: ignore[override]
        tree = ast.parse(data, filename=path)
        return compile(_AssertRewriter().visit(tree), path, "exec", dont_inherit=True)

    def exec_module(self, module: types.ModuleType) -> None:
        module.__dict__[_COMPARE] = _explain_compare
        module.__dict__[_TRUTH] = _explain_truth
        super().exec_module(module)


# The part of pytest that test modules may use


class _Raises(contextlib.AbstractContextManager["_Raises"]):
    def __init__(self, expected: type[BaseException], match: str | None) -> None:
        self._expected, self._match = expected, match
        self.value: BaseException | None = None

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: object) -> bool:
        if kind is None:
            raise _Failed(f"DID NOT RAISE {self._expected!r}")
        if not issubclass(kind, self._expected):
            return False
        self.value = value
        if self._match is not None and not re.search(self._match, str(value)):
            raise AssertionError(
                f"Regex pattern did not match.\n Regex: {self._match!r}\n Input: {str(value)!r}"
            ) from value
        return True


class _Failed(Exception):
    """Named as pytest names it in its reports."""


_Failed.__name__ = _Failed.__qualname__ = "Failed"


def _parametrize(names: str, values: Sequence[Any], ids: Sequence[str] | None = None) -> Callable[[Any], Any]:
    wanted = [name.strip() for name in names.split(",")]
    rows = [tuple(row) if len(wanted) > 1 else (row,) for row in values]

    def label(index: int, row: tuple[Any, ...]) -> str:
        if ids is not None:
            return ids[index]
        plain = (str, int, float, bool, type(None))
        return "-".join(str(v) if isinstance(v, plain) else f"{n}{index}" for n, v in zip(wanted, row, strict=True))

    def mark(function: Any) -> Any:
        cases = [(label(i, row), dict(zip(wanted, row, strict=True))) for i, row in enumerate(rows)]
        function.cases = [
            (f"{outer}-{inner}" if inner else outer, {**kept, **more})
            for inner, kept in getattr(function, "cases", [("", {})])
            for outer, more in cases
        ]
        return function

    return mark


def _fixture(function: Any) -> Any:
    function.is_fixture = True
    return function


def _pytest_module() -> types.ModuleType:
    module = types.ModuleType("pytest")
    module.__dict__.update(
        raises=lambda expected, match=None: _Raises(expected, match),
        fixture=_fixture,
        mark=types.SimpleNamespace(parametrize=_parametrize),
    )
    return module


# Running tests


def _load(root: Path, path: str) -> types.ModuleType:
    name = path.removesuffix(".py").replace("/", ".")
    loader = _TestLoader(name, str(root / path))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    return module


class _Fixtures:
    """Function-scoped values, made on demand and torn down in reverse."""

    def __init__(self, modules: Sequence[types.ModuleType]) -> None:
        self._makers = {
            name: value
            for module in modules
            for name, value in vars(module).items()
            if getattr(value, "is_fixture", False)
        }
        self._made: dict[str, Any] = {}
        self._open: list[Iterator[Any]] = []

    def arguments(self, function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
        names = [name for name in inspect.signature(function).parameters if name != "self"]
        return {name: given[name] if name in given else self._make(name) for name in names}

    def _make(self, name: str) -> Any:
        if name not in self._made:
            if name not in self._makers:
                raise LookupError(f"fixture '{name}' not found")
            maker = self._makers[name]
            made = maker(**self.arguments(maker, {}))
            if inspect.isgenerator(made):
                self._open.append(made)
                made = next(made)
            self._made[name] = made
        return self._made[name]

    def close(self) -> None:
        for maker in reversed(self._open):
            next(maker, None)


def _cases(
    module: types.ModuleType,
) -> Iterator[tuple[str, Callable[..., Any], dict[str, Any], Callable[[], None] | None]]:
    """Every test of a module in file order: (name, callable, parameters, tear-down)."""
    for name, value in list(vars(module).items()):
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if name.startswith("test") and inspect.isfunction(value):
            for label, parameters in getattr(value, "cases", [("", {})]):
                yield (f"{name}[{label}]" if label else name), value, parameters, None
        elif inspect.isclass(value) and (name.startswith("Test") or issubclass(value, unittest.TestCase)):
            for method in [m for m in vars(value) if m.startswith("test")]:
                if issubclass(value, unittest.TestCase):
                    case = value(method)
                    yield f"{name}::{method}", _with_set_up(case, method), {}, case.tearDown
                else:
                    function = getattr(value(), method)
                    for label, parameters in getattr(function, "cases", [("", {})]):
                        yield f"{name}::{method}" + (f"[{label}]" if label else ""), function, parameters, None


def _with_set_up(case: unittest.TestCase, method: str) -> Callable[[], None]:
    def run() -> None:
        case.setUp()
        getattr(case, method)()

    return run


def _frames(root: Path, fault: BaseException) -> list[dict[str, Any]]:
    """The frames inside the project; the runner's own and the standard library's say nothing about it."""
    frames = []
    for frame, line in traceback.walk_tb(fault.__traceback__):
        file = Path(frame.f_code.co_filename)
        if file.is_relative_to(root):
            code = frame.f_code
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            frames.append(
                {
                    "path": file.relative_to(root).as_posix(),
                    "line": line,
                    "function": code.co_name,
                    "first_line": code.co_firstlineno,
                    "arguments": [[name, _shown(frame.f_locals[name])] for name in names if name in frame.f_locals],
                }
            )
    return frames


def _fault(root: Path, fault: BaseException) -> dict[str, Any]:
    text = "".join(traceback.format_exception_only(type(fault), fault)).rstrip("\n")
    name = type(fault).__name__
    head, colon, rest = text.partition(": ")
    text = f"{name}{colon}{rest}" if head.rpartition(".")[2] == name else text
    if repr(fault).startswith("AssertionError('assert "):
        text = text.removeprefix("AssertionError: ")
    chained = fault.__cause__ or (None if fault.__suppress_context__ else fault.__context__)
    return {
        "kind": name,
        "text": text,
        "frames": _frames(root, fault),
        "earlier": None if chained is None else _fault(root, chained),
        "explicit": fault.__cause__ is not None,
    }


class _Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter(_LOG_FORMAT))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


def _run_one(
    root: Path,
    modules: Sequence[types.ModuleType],
    function: Callable[..., Any],
    parameters: dict[str, Any],
    tear_down: Callable[[], None] | None,
) -> dict[str, Any]:
    outcome, fault = "passed", None
    fixtures, records, printed = _Fixtures(modules), _Records(), io.StringIO()
    logging.getLogger().addHandler(records)
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        try:
            arguments = fixtures.arguments(function, parameters)
        except Exception as error:
            outcome, fault = "error", error
        else:
            try:
                function(**arguments)
            except Exception as error:
                outcome, fault = "failed", error
            try:
                if tear_down is not None:
                    tear_down()
                fixtures.close()
            except Exception as error:
                if fault is None:
                    outcome, fault = "error", error
    logging.getLogger().removeHandler(records)
    return {
        "outcome": outcome,
        "fault": None if fault is None else _fault(root, fault),
        "stdout": printed.getvalue(),
        "log": records.lines,
        "warnings": [
            {
                "path": Path(warning.filename).relative_to(root).as_posix(),
                "line": warning.lineno,
                "kind": warning.category.__name__,
                "message": str(warning.message),
            }
            for warning in caught
            if Path(warning.filename).is_relative_to(root)
        ],
    }


def _run_tests(root: Path, job: dict[str, Any]) -> list[dict[str, Any]]:
    sys.modules["pytest"] = _pytest_module()
    logging.getLogger().setLevel(job["log_level"])
    results = []
    for path in job["tests"]:
        folder = path.rpartition("/")[0]
        conftest = f"{folder}/conftest.py" if folder else "conftest.py"
        try:
            modules = [_load(root, conftest)] if (root / conftest).exists() else []
            module = _load(root, path)
        except Exception as error:
            empty = {"stdout": "", "log": [], "warnings": []}
            results.append({"path": path, "name": "", "outcome": "error", "fault": _fault(root, error), **empty})
            continue
        for name, function, parameters, tear_down in _cases(module):
            run = _run_one(root, [*modules, module], function, parameters, tear_down)
            results.append({"path": path, "name": name, **run})
    return results


# Running calls


class _CallRun:
    """One call and its steps; arguments may refer to what earlier steps returned."""

    def __init__(self) -> None:
        self._results: list[Any] = []

    def observe(self, call: dict[str, Any]) -> list[str]:
        text, subject = _observed(lambda: self._called(call))
        if not call["then"] or text.startswith(_RAISES):
            return [text]
        texts = []
        for step in call["then"]:
            text, result = _observed(lambda step=step: self._stepped(subject, step))  # type: ignore[misc]
            texts.append(text)
            self._results.append(result)
        return texts

    def _called(self, call: dict[str, Any]) -> Any:
        function = _resolved(importlib.import_module(call["module"]), call["function"])
        return function(*self._positional(call), **self._named(call))

    def _stepped(self, subject: Any, step: dict[str, Any]) -> Any:
        owner = subject if step["on"] is None else self._results[step["on"]]
        attribute = _resolved(owner, step["name"])
        return attribute(*self._positional(step), **self._named(step)) if callable(attribute) else attribute

    def _positional(self, call: dict[str, Any]) -> list[Any]:
        return [self._value(item) for item in call["args"]]

    def _named(self, call: dict[str, Any]) -> dict[str, Any]:
        return {name: self._value(item) for name, item in call["kwargs"]}

    def _value(self, encoded: Any) -> Any:
        match encoded:
            case list():
                return [self._value(item) for item in encoded]
            case {"call": call}:
                made = self._called(call)
                for step in call["then"]:
                    self._stepped(made, step)
                return made
            case {"reference": [module, name]}:
                return _resolved(importlib.import_module(module), name)
            case {"earlier": step}:
                return self._results[step]
            case {"map": pairs}:
                return {key: self._value(item) for key, item in pairs}
            case literal:
                return literal


def _resolved(owner: Any, dotted: str) -> Any:
    for name in dotted.split("."):
        owner = getattr(owner, name)
    return owner


def _observed(action: Callable[[], Any]) -> tuple[str, Any]:
    try:
        result = action()
        return repr(result), result
    except Exception as fault:
        return f"{_RAISES} {type(fault).__name__}", None


def run_calls(calls: list[dict[str, Any]]) -> list[list[str]]:
    with contextlib.redirect_stdout(io.StringIO()):
        return [_CallRun().observe(call) for call in calls]


# Running many states of a package


def _run_batch(root: Path, job: dict[str, Any]) -> list[Any]:
    """Each trial in a fork of its own, so that none sees what another imported or broke."""
    return [_forked(root / trial["folder"], job, trial) for trial in job["trials"]]


def _forked(root: Path, job: dict[str, Any], trial: dict[str, Any]) -> Any:
    written = root / "answer.json"
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_PROF, job["limit_s"])
        try:
            text = json.dumps(_tried(root, job["roots"], trial)).replace(str(root), "/build")
            signal.setitimer(signal.ITIMER_PROF, 0)
            written.write_text(text)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return json.loads(written.read_text()) if written.exists() else None


def _tried(root: Path, roots: list[str], trial: dict[str, Any]) -> dict[str, Any]:
    os.chdir(root)
    find_in(root, roots)
    tests = _run_tests(root, {"tests": trial["tests"], "log_level": "WARNING"}) if trial["tests"] else []
    return {"tests": tests, "calls": run_calls(trial["calls"])}


def find_in(root: Path, roots: list[str]) -> None:
    sys.path[:0] = [str(root / folder) for folder in roots]


def main() -> None:
    job = json.load(sys.stdin)
    root = Path.cwd()
    answer, sys.stdout = sys.stdout, io.StringIO()
    warnings.simplefilter("ignore")
    logging.captureWarnings(False)
    if job["job"] == "batch":
        done: list[Any] = _run_batch(root, job)
    else:
        find_in(root, job["roots"])
        done = _run_tests(root, job) if job["job"] == "tests" else run_calls(job["calls"])
    json.dump(done, answer)
    answer.flush()


if __name__ == "__main__":
    main()
