"""What a function may have looked like before somebody tidied it: the same meaning in other words.

A history is told backwards, so each change here leads from the present text to an earlier one. The text is spliced,
never printed from the tree, and a change that does not fit gives None: the caller then tries another.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from TokenOptEnv.streams import Stream

_EARLIER_NAMES = ("result", "found", "picked", "answer", "outcome", "chosen", "made", "kept")
_CONDITION_NAMES = ("fits", "wanted", "due", "applies", "is_needed", "matches", "allowed", "ready")
_SHORT_NAMES = ("tmp", "res", "cur", "val", "obj", "acc", "elem", "data")
_RETURNS = re.compile(r"\) -> [^:]+(?:\[[^:]*\])?:$")


@lru_cache(maxsize=512)
def functions(source: str) -> Mapping[str, ast.FunctionDef]:
    """By `Class.method` or `function`, in the order of the file. Kept: a history asks about one state many times."""
    found: dict[str, ast.FunctionDef] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.ClassDef):
            found.update({f"{node.name}.{n.name}": n for n in node.body if isinstance(n, ast.FunctionDef)})
    return MappingProxyType(found)


def span(source: str, function: str) -> tuple[int, int]:
    """The first and last line of a function, counted from 1."""
    node = functions(source)[function]
    return node.lineno, node.end_lineno or node.lineno


def swapped(source: str, function: str, old: tuple[str, ...], new: tuple[str, ...]) -> str | None:
    """The one place in a function where lines stand, with others in their place."""
    first, last = span(source, function)
    lines = source.split("\n")
    places = [at for at in range(first - 1, last) if tuple(lines[at : at + len(old)]) == old]
    if len(places) != 1:
        return None
    lines[places[0] : places[0] + len(old)] = new
    return "\n".join(lines)


def unfolded(source: str, function: str, stream: Stream, near: tuple[str, ...] = ()) -> str | None:
    """An expression had a name of its own before it was returned or asked: one of the lines `near`, where given."""
    lines = source.split("\n")
    taken = _names(functions(source)[function])
    statements = [s for s in _statements(functions(source)[function]) if _foldable(s)]
    wanted = [s for s in statements if lines[s.lineno - 1] in near]
    if near and not wanted:
        return None
    if not statements:
        return None
    statement = stream.choice(wanted or statements)
    pool = _CONDITION_NAMES if isinstance(statement, ast.If) else _EARLIER_NAMES
    free = [name for name in pool if name not in taken]
    if not free:
        return None
    name = stream.choice(free)
    row = lines[statement.lineno - 1]
    margin = row[: len(row) - len(row.lstrip())]
    if isinstance(statement, ast.If):
        condition = row.strip().removeprefix("if ").removesuffix(":")
        new = [f"{margin}{name} = {condition}", f"{margin}if {name}:"]
    else:
        new = [f"{margin}{name} = {row.strip().removeprefix('return ')}", f"{margin}return {name}"]
    lines[statement.lineno - 1 : statement.lineno] = new
    return "\n".join(lines)


def renamed(source: str, function: str, stream: Stream) -> str | None:
    """A local variable had a shorter name."""
    node = functions(source)[function]
    given = {argument.arg for argument in [*node.args.args, *node.args.kwonlyargs]}
    stored = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    local = [name for name in dict.fromkeys(stored) if name not in given and name != "_" and len(name) > 2]
    free = [name for name in _SHORT_NAMES if name not in _names(node)]
    if not local or not free:
        return None
    old, new = stream.choice(local), stream.choice(free)
    places = sorted(
        {(n.lineno, n.col_offset) for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == old}, reverse=True
    )
    lines = source.split("\n")
    if any('f"' in lines[row - 1] or "f'" in lines[row - 1] for row, _ in places):
        return None
    for row, column in places:
        raw = lines[row - 1].encode()
        if raw[column : column + len(old)].decode() != old:
            return None
        lines[row - 1] = (raw[:column] + new.encode() + raw[column + len(old) :]).decode()
    return "\n".join(lines)


def undocumented(source: str, function: str, stream: Stream) -> str | None:
    """It said less about itself: the docstring, or all of it but the first line, was not there yet."""
    node = functions(source)[function]
    if len(node.body) < 2 or ast.get_docstring(node) is None:
        return None
    text = node.body[0]
    lines = source.split("\n")
    first, last = text.lineno, text.end_lineno or text.lineno
    if last > first + 1:
        lines[first:last] = []
        lines[first - 1] += '"""'
    else:
        lines[first - 1 : last] = []
    return "\n".join(lines)


def reworded(source: str, function: str, stream: Stream) -> str | None:
    """Its docstring's first line ended earlier; no line moves."""
    node = functions(source)[function]
    if ast.get_docstring(node) is None:
        return None
    text = node.body[0]
    lines = source.split("\n")
    row = lines[text.lineno - 1]
    one_line = text.lineno == text.end_lineno
    said = row.strip().removeprefix('"""').removesuffix('"""')
    cuts = [found.start() for found in re.finditer(r"[,;:.] |[?] ", said) if found.start() > 12]
    if not cuts:
        return None
    margin = row[: len(row) - len(row.lstrip())]
    lines[text.lineno - 1] = f'{margin}"""{said[: cuts[0]]}.{chr(34) * 3 if one_line else ""}'
    return "\n".join(lines)


def unannotated(source: str, function: str, stream: Stream) -> str | None:
    """It did not say what it returns."""
    node = functions(source)[function]
    lines = source.split("\n")
    row = lines[node.lineno - 1]
    if not _RETURNS.search(row):
        return None
    lines[node.lineno - 1] = _RETURNS.sub("):", row)
    return "\n".join(lines)


def untested(source: str, test: str) -> str | None:
    """A test module before one of its tests was written."""
    node = functions(source).get(test)
    if node is None:
        return None
    lines = source.split("\n")
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    last = node.end_lineno or node.lineno
    del lines[first - 1 : last]
    while first <= len(lines) and first > 1 and not lines[first - 1].strip() and not lines[first - 2].strip():
        del lines[first - 1]
        if first > len(lines):
            break
    text = "\n".join(lines).rstrip("\n") + "\n"
    return re.sub(r"\n{4,}", "\n\n\n", text)


def _foldable(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Return):
        one_line = statement.lineno == statement.end_lineno
        return one_line and statement.value is not None and not isinstance(statement.value, ast.Name | ast.Constant)
    if isinstance(statement, ast.If):
        return statement.test.lineno == statement.test.end_lineno and isinstance(
            statement.test, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Call
        )
    return False


def _statements(node: ast.FunctionDef) -> Iterator[ast.stmt]:
    """`elif` is left out: nothing can be put in front of it."""
    lines_of_elif = {
        inner.orelse[0].lineno
        for inner in ast.walk(node)
        if isinstance(inner, ast.If) and len(inner.orelse) == 1 and isinstance(inner.orelse[0], ast.If)
    }
    for inner in ast.walk(node):
        if isinstance(inner, ast.stmt) and inner.lineno not in lines_of_elif:
            yield inner


def _names(node: ast.FunctionDef) -> set[str]:
    named = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return named | {argument.arg for argument in [*node.args.args, *node.args.kwonlyargs]}
