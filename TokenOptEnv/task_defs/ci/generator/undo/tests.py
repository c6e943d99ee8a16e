"""Tests that came later than what they test."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from TokenOptEnv.task_defs.ci.generator.undo.spot import Source, Spot, read


def added_test(source: Source, keep: Collection[str]) -> Iterator[Spot]:
    """Every test of a module that may be missing; the ones in `keep`, and a module's last, stay."""
    tests = [node for node in source.tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")]
    if len(tests) < 2:
        return
    for node in tests:
        if node.name not in keep:
            yield Spot(without_function(source, node), node.name)


def without_function(source: Source, node: ast.FunctionDef) -> str:
    """The text without a top-level function, its decorators and the blank lines above it."""
    lines = list(source.lines)
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    above = first - 1
    while above > 0 and not lines[above - 1].strip():
        above -= 1
    rest = lines[node.end_lineno or node.lineno :]
    return "\n".join([*lines[:above], *rest]).rstrip("\n") + "\n"


def without_tests(source: Source, names: Collection[str]) -> str:
    """The text without these tests."""
    for name in names:
        node = next((n for n in source.tree.body if isinstance(n, ast.FunctionDef) and n.name == name), None)
        if node is not None:
            text = without_function(source, node)
            source = read(source.path, text)
    return source.text
