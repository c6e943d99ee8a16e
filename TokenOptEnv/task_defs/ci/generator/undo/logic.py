"""Rewrites that keep the meaning: what a reviewer must read twice, and what a guilty commit hides among."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from TokenOptEnv.task_defs.ci.generator.undo.spot import (
    FunctionNode,
    Source,
    Spot,
    bodies,
    indent_of,
    is_one_line,
    with_lines,
)

_MIRRORED: dict[type[ast.cmpop], str] = {ast.Lt: ">", ast.LtE: ">=", ast.Gt: "<", ast.GtE: "<="}
_PLAIN = (ast.Name, ast.Attribute, ast.Constant, ast.Subscript)
_STEP = "    "


def comparison(source: Source) -> Iterator[Spot]:
    """`a < b` was `b > a`."""
    for function in source.functions:
        for node in source.nodes[function]:
            if not isinstance(node, ast.Compare) or len(node.ops) != 1 or type(node.ops[0]) not in _MIRRORED:
                continue
            left, right = node.left, node.comparators[0]
            if not isinstance(left, _PLAIN) or not isinstance(right, _PLAIN) or node.lineno != node.end_lineno:
                continue
            old = source.segment(node)
            turned = f"{source.segment(right)} {_MIRRORED[type(node.ops[0])]} {source.segment(left)}"
            line = source.lines[node.lineno - 1]
            if old and line.isascii() and line[node.col_offset : node.end_col_offset] == old:
                changed = line[: node.col_offset] + turned + line[node.end_col_offset :]
                yield Spot(with_lines(source, node.lineno, node.lineno, changed), function.name)


def direct_return(source: Source) -> Iterator[Spot]:
    """`return f(x)` was two lines with a name between."""
    for function, statement in _returns(source):
        value = statement.value
        if isinstance(value, ast.Call | ast.BinOp | ast.ListComp | ast.BoolOp):
            indent = indent_of(source, statement.lineno)
            older = (f"{indent}found = {source.segment(value)}", f"{indent}return found")
            if "found" not in source.text and source.segment(value):
                yield Spot(with_lines(source, statement.lineno, statement.lineno, *older), function.name)


def ternary(source: Source) -> Iterator[Spot]:
    """`return a if c else b` was an if and two returns."""
    for function, statement in _returns(source):
        value = statement.value
        if isinstance(value, ast.IfExp):
            indent = indent_of(source, statement.lineno)
            older = (
                f"{indent}if {source.segment(value.test)}:",
                f"{indent}{_STEP}return {source.segment(value.body)}",
                f"{indent}return {source.segment(value.orelse)}",
            )
            yield Spot(with_lines(source, statement.lineno, statement.lineno, *older), function.name)


def no_else(source: Source) -> Iterator[Spot]:
    """A guard with a return, and the rest, was if and else."""
    for function in source.functions:
        for statements in bodies(function):
            if len(statements) < 2:
                continue
            guard, rest = statements[-2], statements[-1]
            if (
                not isinstance(guard, ast.If)
                or guard.orelse
                or not isinstance(rest, ast.Return)
                or not is_one_line(rest)
            ):
                continue
            if not isinstance(guard.body[-1], ast.Return | ast.Raise) or rest.lineno != (guard.end_lineno or 0) + 1:
                continue
            indent = indent_of(source, rest.lineno)
            older = (f"{indent}else:", f"{indent}{_STEP}{source.lines[rest.lineno - 1].strip()}")
            yield Spot(with_lines(source, rest.lineno, rest.lineno, *older), function.name)


def comprehension(source: Source) -> Iterator[Spot]:
    """A list that is returned, or kept, was filled in a loop."""
    for function in source.functions:
        for statements in bodies(function):
            for statement in statements:
                name, value = _listed(statement)
                if value is None or len(value.generators) != 1 or not is_one_line(statement):
                    continue
                loop = value.generators[0]
                if loop.is_async or len(loop.ifs) > 1 or name in ("", "self") or f" {name} " in source.segment(value):
                    continue
                if isinstance(statement, ast.Return) and "gathered" in source.text:
                    continue
                indent = indent_of(source, statement.lineno)
                older = [
                    f"{indent}{name} = []",
                    f"{indent}for {source.segment(loop.target)} in {source.segment(loop.iter)}:",
                ]
                deeper = indent + _STEP
                if loop.ifs:
                    older.append(f"{deeper}if {source.segment(loop.ifs[0])}:")
                    deeper += _STEP
                older.append(f"{deeper}{name}.append({source.segment(value.elt)})")
                if isinstance(statement, ast.Return):
                    older.append(f"{indent}return {name}")
                yield Spot(with_lines(source, statement.lineno, statement.lineno, *older), function.name)


def augmented(source: Source) -> Iterator[Spot]:
    """`n += 1` was `n = n + 1`."""
    for function in source.functions:
        for statements in bodies(function):
            for statement in statements:
                if not isinstance(statement, ast.AugAssign) or not is_one_line(statement):
                    continue
                if not isinstance(statement.op, ast.Add | ast.Sub) or not isinstance(statement.value, ast.Constant):
                    continue
                sign = "+" if isinstance(statement.op, ast.Add) else "-"
                target = source.segment(statement.target)
                older = (
                    f"{indent_of(source, statement.lineno)}{target} = {target} {sign} {source.segment(statement.value)}"
                )
                yield Spot(with_lines(source, statement.lineno, statement.lineno, older), function.name)


def _returns(source: Source) -> Iterator[tuple[FunctionNode, ast.Return]]:
    for function in source.functions:
        for statements in bodies(function):
            for statement in statements:
                if isinstance(statement, ast.Return) and is_one_line(statement):
                    yield function, statement


def _listed(statement: ast.stmt) -> tuple[str, ast.ListComp | None]:
    """The list that a statement makes by a comprehension, and what to call it in a loop."""
    if isinstance(statement, ast.Return) and isinstance(statement.value, ast.ListComp):
        return "gathered", statement.value
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.ListComp) and len(statement.targets) == 1:
        target = statement.targets[0]
        return (target.id, statement.value) if isinstance(target, ast.Name) else ("", None)
    return "", None
