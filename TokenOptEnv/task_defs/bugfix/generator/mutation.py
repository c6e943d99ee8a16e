"""Mutations of a package: where a slip was made, and the lines before and after it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.task_defs.bugfix.generator.library import WrittenBug, modules
from TokenOptEnv.task_defs.bugfix.generator.operators import OPERATORS, Around

_ODD = re.compile(r"[-+] 1 [-+] 1\b|\b1 [-+] 1\b|\b0 [-+] 1\b|not not |- -")
"""What nobody writes by mistake: `x + 1 - 1`."""
WRITTEN = "written"
"""The operator of bugs that were written by hand."""


class Mutation(Frozen):
    """`right` are the lines as they should be, from `line` on; `wrong` are those that took their place."""

    operator: str
    path: str
    function: str
    """As `Class.method` or `function`."""
    line: int
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    why: str = ""

    def planted(self, files: Mapping[str, str]) -> dict[str, str]:
        return _replaced(files, self.path, self.line, self.right, self.wrong)

    def taken_out(self, files: Mapping[str, str]) -> dict[str, str]:
        return _replaced(files, self.path, self.line, self.wrong, self.right)

    def repair(self) -> str:
        """The minimal diff that takes it out again."""
        return _hunk(self.path, self.line, self.wrong, self.right)

    def harm(self) -> str:
        """The same slip as a diff: what somebody would propose who suspects the wrong place."""
        return _hunk(self.path, self.line, self.right, self.wrong)


def instead(here: Mutation, other: Mutation) -> str:
    """The diff that turns one wrong line into another wrong line."""
    return _hunk(here.path, here.line, here.wrong, other.wrong)


def mutations(package: str, files: Mapping[str, str]) -> Iterator[Mutation]:
    """Every slip that an operator can make in a function that says what it promises, in the order of the files."""
    for path in modules(package):
        source = files[path]
        tree = ast.parse(source)
        for owner, function in _functions(tree):
            if not _documented(function):
                continue
            name = f"{owner.name}.{function.name}" if owner else function.name
            yield from _of_function(path, source, owner, function, name)


def written(files: Mapping[str, str], bug: WrittenBug) -> Mutation:
    """A bug written by hand, cut down to the lines that differ; a pure deletion keeps the line above it."""
    if files[bug.path].count(bug.before) != 1:
        raise ScenarioInvalid(f"{bug.path}: {bug.before!r} does not stand there once")
    first = files[bug.path].partition(bug.before)[0].count("\n") + 1
    right, wrong = bug.before.rstrip("\n").split("\n"), bug.after.rstrip("\n").split("\n")
    while right and wrong and right[-1] == wrong[-1] and min(len(right), len(wrong)) > 1:
        right, wrong = right[:-1], wrong[:-1]
    while min(len(right), len(wrong)) > 1 and right[0] == wrong[0]:
        right, wrong, first = right[1:], wrong[1:], first + 1
    return Mutation(
        operator=WRITTEN,
        path=bug.path,
        function=function_at(files[bug.path], first),
        line=first,
        right=tuple(right),
        wrong=tuple(wrong),
        why=bug.why,
    )


def function_at(source: str, line: int) -> str:
    """The innermost function around a line, as `Class.method` or `function`."""
    found = ""
    for owner, function in _functions(ast.parse(source)):
        if function.lineno <= line <= (function.end_lineno or function.lineno):
            found = f"{owner.name}.{function.name}" if owner else function.name
    return found


def _of_function(
    path: str, source: str, owner: ast.ClassDef | None, function: ast.FunctionDef, name: str
) -> Iterator[Mutation]:
    lines = source.split("\n")
    around = Around(source=source, names=_names(function), attributes=_attributes(owner))
    for node in _own_nodes(function):
        for operator, changes in OPERATORS.items():
            for target, text in changes(node, around):
                if target.lineno != target.end_lineno:
                    continue
                row = lines[target.lineno - 1]
                head = row.encode()[: target.col_offset].decode()
                tail = row.encode()[target.end_col_offset or 0 :].decode()
                mutated = f"{head}{text}{tail}"
                if mutated != row and not _ODD.search(mutated):
                    yield Mutation(
                        operator=operator, path=path, function=name, line=target.lineno, right=(row,), wrong=(mutated,)
                    )


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    yield function
    body = function.body[1:] if _documented(function) else function.body
    for statement in body:
        yield from ast.walk(statement)


def _functions(tree: ast.Module) -> Iterator[tuple[ast.ClassDef | None, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield None, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield node, inner


def _documented(function: ast.FunctionDef) -> bool:
    return ast.get_docstring(function) is not None


def _names(function: ast.FunctionDef) -> tuple[str, ...]:
    given = [argument.arg for argument in [*function.args.args, *function.args.kwonlyargs]]
    stored = [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return tuple(name for name in dict.fromkeys([*given, *stored]) if name not in ("self", "cls", "_"))


def _attributes(owner: ast.ClassDef | None) -> tuple[str, ...]:
    if owner is None:
        return ()
    fields = [n.target.id for n in owner.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]
    kept = [
        n.attr
        for n in ast.walk(owner)
        if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store) and isinstance(n.value, ast.Name)
    ]
    return tuple(dict.fromkeys([*fields, *kept]))


def _replaced(
    files: Mapping[str, str], path: str, line: int, old: tuple[str, ...], new: tuple[str, ...]
) -> dict[str, str]:
    lines = files[path].split("\n")
    if tuple(lines[line - 1 : line - 1 + len(old)]) != old:
        raise ScenarioInvalid(f"{path}: other lines stand at {line} than {old!r}")
    lines[line - 1 : line - 1 + len(old)] = new
    return {**files, path: "\n".join(lines)}


def _hunk(path: str, line: int, old: tuple[str, ...], new: tuple[str, ...]) -> str:
    old_count = "" if len(old) == 1 else f",{len(old)}"
    new_count = "" if len(new) == 1 else f",{len(new)}"
    head = f"--- a/{path}\n+++ b/{path}\n@@ -{line}{old_count} +{line}{new_count} @@"
    return "\n".join([head, *(f"-{text}" for text in old), *(f"+{text}" for text in new)])
