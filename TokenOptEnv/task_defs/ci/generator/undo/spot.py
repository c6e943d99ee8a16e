"""One innocent change, seen backwards: how a file may have looked before it, and what its commit would be called."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Spot:
    """`before` is the file's text without the change."""

    before: str
    what: str
    """What the change is about: the name of a function, a class, a test."""


@dataclass(frozen=True)
class Source:
    """A file and its syntax tree, so that every kind of change looks at one parse."""

    path: str
    text: str
    tree: ast.Module

    @property
    def module(self) -> str:
        return self.path.rpartition("/")[2].removesuffix(".py")

    @cached_property
    def lines(self) -> tuple[str, ...]:
        return tuple(self.text.split("\n"))

    @cached_property
    def functions(self) -> tuple[FunctionNode, ...]:
        """In file order, methods included."""
        found = [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        return tuple(sorted(found, key=lambda node: node.lineno))

    @cached_property
    def nodes(self) -> dict[FunctionNode, tuple[ast.AST, ...]]:
        """Everything inside each function."""
        return {function: tuple(ast.walk(function)) for function in self.functions}

    def segment(self, node: ast.expr) -> str:
        """The node's own text, or nothing where it spans lines or bytes and characters differ: a spot to pass over."""
        line = self.lines[node.lineno - 1]
        if node.lineno != node.end_lineno or not line.isascii():
            return ""
        return line[node.col_offset : node.end_col_offset]


Undo = Callable[[Source], Iterator[Spot]]


@lru_cache(maxsize=512)
def read(path: str, text: str) -> Source:
    return Source(path, text, ast.parse(text))


def with_lines(source: Source, first: int, last: int, *lines: str) -> str:
    """The text with lines `first` to `last`, counted from 1, replaced."""
    kept = source.lines
    return "\n".join([*kept[: first - 1], *lines, *kept[last:]])


def indent_of(source: Source, line: int) -> str:
    text = source.lines[line - 1]
    return text[: len(text) - len(text.lstrip())]


def is_one_line(node: ast.stmt) -> bool:
    return node.lineno == node.end_lineno


def bodies(function: FunctionNode) -> Iterator[list[ast.stmt]]:
    """Every list of statements inside a function, nested functions left out."""
    pending: list[ast.AST] = [function]
    while pending:
        node = pending.pop(0)
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list) and statements and isinstance(statements[0], ast.stmt):
                yield statements
                pending += [
                    each
                    for each in statements
                    if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                ]
