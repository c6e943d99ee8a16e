"""Code outline: signatures, decorators, first docstring lines and constants, with line numbers; bodies as `...`.

Python that parses is read by its syntax tree. A segment can begin in the middle of a function, and not all code is
Python: what does not parse is outlined by its indentation and by the look of its lines. Source lines are kept byte for
byte; a definition's last line gains `...` and the number of its first line within this text.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from textwrap import dedent

from TokenOptEnv.simulators import terms
from TokenOptEnv.simulators.compression.budget import Budget
from TokenOptEnv.simulators.compression.method import Method

_GRAMMAR = (3, 11)
_SHORT_STATEMENT_LINES = 4
_LONGEST_SIGNATURE_LINES = 16
_GAP = "…"
_DEFINES = re.compile(
    r"\s*(?:(?:export|default|pub|public|private|protected|static|final|abstract|async)\s+)*"
    r"(?:def|class|function|func|fn|interface|struct|enum|trait|impl|module|namespace)\b"
)
_DOCUMENTS = re.compile(r"\s*[rR]?(?:\"\"\"|\'\'\')")
_DECORATES = re.compile(r"\s*@\w")
_IMPORTS = re.compile(r"\s*(?:import|from|use|require|#include)\b")
_CONSTANT = re.compile(r"\s*(?:(?:export|const|final|static|val)\s+)*[A-Z][A-Z0-9_]+\b\s*[:=]")
_SIGNATURE_ENDS = re.compile(r"[:{;]\s*(?:#.*|//.*)?$")

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class _Worth(IntEnum):
    """What goes first when not all fits."""

    ASKED = 0
    PUBLIC = 1
    PRIVATE = 2
    CONSTANT = 3
    DOCSTRING = 4
    IMPORT = 5
    BODY = 6


@dataclass(frozen=True, slots=True)
class _Item:
    worth: int
    first: int
    """Line index; items are printed in its order."""
    lines: tuple[str, ...]


def _rewrite(text: str, wanted_tokens: int, query: str) -> str:
    lines = text.removesuffix("\n").split("\n")
    asked = frozenset(terms.distinct(query))
    tree = _parsed(text)
    items = list(_tree_items(tree.body, lines, asked)) if tree else _looks(lines, asked)
    budget = Budget(wanted_tokens)
    ranked = sorted(items, key=lambda item: (item.worth, item.first))
    kept = [item for item in ranked if budget.take(item.lines)]
    if not kept:
        return ""
    printed = [line for item in sorted(kept, key=lambda item: item.first) for line in item.lines]
    return "\n".join([*printed, _GAP] if len(kept) < len(items) else printed) + "\n"


def _parsed(text: str) -> ast.Module | None:
    """The tree, if there is one with something in it; a run of whole methods parses once its indentation is off.

    Warnings about the text are not ours to give, and a filter that makes them errors must not change the outcome.
    """
    if "\r" in text or "\f" in text:
        return None  # the parser would count other lines than we do
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for source in (text, dedent(text)):
            try:
                tree = ast.parse(source, feature_version=_GRAMMAR)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            return (
                tree if any(isinstance(node, _Definition | ast.Assign | ast.AnnAssign) for node in tree.body) else None
            )
    return None


def _tree_items(body: Sequence[ast.stmt], lines: Sequence[str], asked: frozenset[str]) -> Iterator[_Item]:
    for node in body:
        first = _first_line(node)
        if isinstance(node, _Definition):
            yield _signature(node, first, lines, asked)
            documented = node.body[0]
            if ast.get_docstring(node, clean=False) is not None and documented.lineno > node.lineno:
                yield _Item(_Worth.DOCSTRING, documented.lineno - 1, (lines[documented.lineno - 1],))
            if isinstance(node, ast.ClassDef):
                yield from _tree_items(node.body, lines, asked)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            yield _Item(_Worth.CONSTANT, first, _short(node, first, lines))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield _Item(_Worth.IMPORT, first, _short(node, first, lines))
        elif isinstance(node, ast.If | ast.Try):
            yield from _tree_items([*node.body, *node.orelse], lines, asked)


def _first_line(node: ast.stmt) -> int:
    if isinstance(node, _Definition) and node.decorator_list:
        return min(node.lineno, node.decorator_list[0].lineno) - 1
    return node.lineno - 1


def _signature(node: _Definition, first: int, lines: Sequence[str], asked: frozenset[str]) -> _Item:
    """Up to the line above the body, less the comments and blank lines in between; a one-liner is all signature."""
    last = max(_first_line(node.body[0]) - 1, node.lineno - 1)
    while last > node.lineno - 1 and not _SIGNATURE_ENDS.search(lines[last]):
        last -= 1
    one_line = _first_line(node.body[0]) <= node.lineno - 1
    header = list(lines[first : last + 1])
    header[-1] += f"  # L{node.lineno}" if one_line else f" ...  # L{node.lineno}"
    return _Item(_name_worth(node.name, asked), first, tuple(header))


def _short(node: ast.stmt, first: int, lines: Sequence[str]) -> tuple[str, ...]:
    end = node.end_lineno or node.lineno
    if end - first <= _SHORT_STATEMENT_LINES:
        return tuple(lines[first:end])
    return (f"{lines[first]} ...",)


def _name_worth(name: str, asked: frozenset[str]) -> _Worth:
    if asked.intersection(terms.terms(name)):
        return _Worth.ASKED
    return _Worth.PRIVATE if name.startswith("_") and not name.endswith("__") else _Worth.PUBLIC


def _looks(lines: Sequence[str], asked: frozenset[str]) -> list[_Item]:
    """Outline by the look of lines; of a text that is all body, its lines, the least indented first."""
    items = list(_look_items(lines, asked))
    outline = [item for item in items if item.worth < _Worth.BODY]
    return outline if any(item.worth < _Worth.DOCSTRING for item in outline) else items


def _look_items(lines: Sequence[str], asked: frozenset[str]) -> Iterator[_Item]:
    index = 0
    while index < len(lines):
        line = lines[index]
        if _DEFINES.match(line):
            end = _signature_end(lines, index)
            header = list(lines[index:end])
            header[-1] += f"{' ...' if _SIGNATURE_ENDS.search(header[-1]) else ''}  # L{index + 1}"
            name = " ".join(lines[index].split("(")[0].split()[-1:])
            yield _Item(_name_worth(name.rstrip(":"), asked), index, tuple(header))
            if end < len(lines) and _DOCUMENTS.match(lines[end]):
                yield _Item(_Worth.DOCSTRING, end, (lines[end],))
                end += 1
            index = end
            continue
        if _DECORATES.match(line):
            yield _Item(_Worth.PUBLIC, index, (line,))
        elif _CONSTANT.match(line):
            yield _Item(_Worth.CONSTANT, index, (line,))
        elif _IMPORTS.match(line):
            yield _Item(_Worth.IMPORT, index, (line,))
        elif line.strip():
            yield _Item(_Worth.BODY + len(line) - len(line.lstrip()), index, (line,))
        index += 1


def _signature_end(lines: Sequence[str], start: int) -> int:
    """Behind the line that closes the brackets the first line opened."""
    depth = 0
    for end in range(start, min(len(lines), start + _LONGEST_SIGNATURE_LINES)):
        depth += lines[end].count("(") - lines[end].count(")")
        if depth <= 0:
            return end + 1
    return start + 1


METHOD = Method(
    name="code_outline",
    describes="signatures, decorators, constants and first docstring lines with line numbers; bodies left out",
    rewrite=_rewrite,
)
