"""Slips that a rewrite can bring in: one line that reads well and means something else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from TokenOptEnv.task_defs.ci.generator.undo import Source

_NEXT_DOOR: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
}
_TWINS = {"min": "max", "max": "min", "any": "all", "all": "any"}
_DROPPED = ("strip", "lower", "upper", "copy", "casefold", "rstrip")


@dataclass(frozen=True, slots=True)
class Slip:
    """In file `path`, `old` stands exactly once; with `new` in its place the file still parses."""

    path: str
    function: str
    old: str
    new: str


def slips(source: Source) -> Iterator[Slip]:
    for function in source.functions:
        for node in ast.walk(function):
            if isinstance(node, ast.expr) and node.lineno == node.end_lineno:
                for text in _variants(source, node):
                    slip = _placed(source, function.name, node, text)
                    if slip is not None:
                        yield slip


def _variants(source: Source, node: ast.expr) -> Iterator[str]:
    text = source.segment(node)
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _NEXT_DOOR:
            yield f"{source.segment(left)} {_NEXT_DOOR[type(operator)][1]} {source.segment(right)}"
        case ast.BoolOp(op=ast.And(), values=[first, second]):
            yield f"{source.segment(first)} or {source.segment(second)}"
            yield source.segment(first)
        case ast.BoolOp(op=ast.Or(), values=[first, second]):
            yield source.segment(first)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield source.segment(operand)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant(value=int())):
            yield source.segment(left)
        case ast.BinOp(left=left, op=ast.Add(), right=right) if not isinstance(right, ast.Constant):
            yield f"{source.segment(left)} - {source.segment(right)}"
        case ast.BinOp(left=left, op=ast.Sub(), right=right) if not isinstance(right, ast.Constant):
            yield f"{source.segment(left)} + {source.segment(right)}"
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=right):
            yield f"-(-{source.segment(left)} // {source.segment(right)})"
        case ast.Call(func=ast.Name(id=name)) if name in _TWINS:
            yield _TWINS[name] + text.removeprefix(name)
        case ast.Call(func=ast.Name(id="sorted"), args=[first], keywords=[]):
            yield f"list({source.segment(first)})"
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=[]) if name in _DROPPED:
            yield source.segment(value)
        case ast.Call(func=function, args=[first, second], keywords=[]):
            yield f"{source.segment(function)}({source.segment(second)}, {source.segment(first)})"
        case ast.Subscript(value=value, slice=ast.Constant(value=0)):
            yield f"{source.segment(value)}[-1]"
        case ast.Subscript(value=value, slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1))):
            yield f"{source.segment(value)}[0]"


def _placed(source: Source, function: str, node: ast.expr, text: str) -> Slip | None:
    """The whole lines that change, with lines from above until they stand in the file only once."""
    lines = list(source.lines)
    line = lines[node.lineno - 1]
    if not line.isascii() or not text:
        return None
    changed = line[: node.col_offset] + text + line[node.end_col_offset :]
    first = node.lineno - 1
    while first > 0 and source.text.count(_block(lines[first : node.lineno - 1], line)) > 1:
        first -= 1
    above = lines[first : node.lineno - 1]
    slip = Slip(source.path, function, _block(above, line), _block(above, changed))
    after = source.text.replace(slip.old, slip.new)
    try:
        ast.parse(after)
    except SyntaxError:
        return None
    return slip if source.text.count(slip.old) == 1 and after.count(slip.new) == 1 else None


def _block(above: list[str], line: str) -> str:
    return "".join(f"{each}\n" for each in [*above, line])
