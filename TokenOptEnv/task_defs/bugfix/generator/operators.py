"""The slips that people make, as changes of one expression in one line.

Each operator looks at a node of the syntax tree and offers texts to stand in its place. The text of the line is
spliced, never printed anew from the tree, so a mutated file differs from the original in that place and nowhere else.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Around:
    """What an operator may know of where it is."""

    source: str
    names: tuple[str, ...]
    """Parameters and local names of the function, in order of appearance."""
    attributes: tuple[str, ...]
    """What the class keeps on `self`, in order of appearance."""

    def text(self, node: ast.expr) -> str:
        return ast.get_source_segment(self.source, node) or ""


Change = tuple[ast.expr | ast.stmt, str]
"""A node and the text to put in its place."""

_EDGES: dict[type[ast.cmpop], str] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
_OPPOSITES: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "+",
    ast.FloorDiv: "/",
    ast.Div: "*",
    ast.Mod: "//",
}
_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Div: "/",
    ast.Mod: "%",
}
_TWINS = {"min": "max", "max": "min", "any": "all", "all": "any"}
_TIDYING = ("strip", "lower", "upper", "casefold", "rstrip", "lstrip", "items", "copy")
_WRAPPERS = ("sorted", "abs", "list", "round", "reversed", "set", "deepcopy", "int")


def boundary(node: ast.AST, around: Around) -> Iterator[Change]:
    """The edge itself is let in or kept out."""
    if isinstance(node, ast.Compare):
        yield from _compared(node, around, _EDGES)


def inverted(node: ast.AST, around: Around) -> Iterator[Change]:
    """The condition is asked the wrong way round."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield from _compared(node, around, _OPPOSITES)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, around.text(node.operand)
    elif isinstance(node, ast.If | ast.IfExp) and isinstance(node.test, ast.Name | ast.Call | ast.Attribute):
        yield node.test, f"not {around.text(node.test)}"


def connective(node: ast.AST, around: Around) -> Iterator[Change]:
    """`and` for `or`, `or` for `and`."""
    if isinstance(node, ast.BoolOp) and len(node.values) == 2:
        word = "or" if isinstance(node.op, ast.And) else "and"
        yield node, f" {word} ".join(around.text(value) for value in node.values)


def dropped_clause(node: ast.AST, around: Around) -> Iterator[Change]:
    """One of two conditions is gone."""
    if isinstance(node, ast.BoolOp) and len(node.values) == 2:
        yield node, around.text(node.values[0])
        yield node, around.text(node.values[1])


def arithmetic(node: ast.AST, around: Around) -> Iterator[Change]:
    """Another operator."""
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        yield node, f"{around.text(node.left)} {_ARITHMETIC[type(node.op)]} {around.text(node.right)}"


def off_by_one(node: ast.AST, around: Around) -> Iterator[Change]:
    """One too many or too few: a whole number in a sum, a difference or a range."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        sign = _SIGNS[type(node.op)]
        if _is_number(node.right, 1):
            yield node, around.text(node.left)
        elif not isinstance(node.right, ast.Constant):
            yield node, f"{around.text(node.left)} {sign} {around.text(node.right)} - 1"
    elif isinstance(node, ast.Call) and _name(node.func) == "range":
        *first, last = node.args
        before = "".join(f"{around.text(each)}, " for each in first[:1])
        behind = "".join(f", {around.text(each)}" for each in node.args[2:])
        stop = node.args[1] if len(node.args) > 1 else last
        yield node, f"range({before if len(node.args) > 1 else ''}{around.text(stop)} - 1{behind})"


def slice_edge(node: ast.AST, around: Around) -> Iterator[Change]:
    """A slice that begins or ends one place off, or takes the other end."""
    if not isinstance(node, ast.Subscript):
        return
    owner, cut = around.text(node.value), node.slice
    if isinstance(cut, ast.Slice) and cut.step is None:
        low = around.text(cut.lower) if cut.lower else ""
        high = around.text(cut.upper) if cut.upper else ""
        if cut.lower is not None:
            yield node, _cut(owner, _moved(cut.lower, low, 1), high)
        if cut.upper is not None:
            yield node, _cut(owner, low, _moved(cut.upper, high, -1))
    elif isinstance(cut, ast.UnaryOp) and _is_number(cut.operand, 1):
        yield node, f"{owner}[0]"
    elif _is_number(cut, 0):
        yield node, f"{owner}[-1]"


def swapped_arguments(node: ast.AST, around: Around) -> Iterator[Change]:
    """The first two arguments have changed places."""
    if isinstance(node, ast.Call) and len(node.args) >= 2 and not any(isinstance(a, ast.Starred) for a in node.args):
        first, second, *rest = (around.text(each) for each in node.args)
        named = [around.text(k.value) if k.arg is None else f"{k.arg}={around.text(k.value)}" for k in node.keywords]
        if first != second and all(keyword.arg is not None for keyword in node.keywords):
            yield node, f"{around.text(node.func)}({', '.join([second, first, *rest, *named])})"


def wrong_default(node: ast.AST, around: Around) -> Iterator[Change]:
    """A parameter's default is another one."""
    if isinstance(node, ast.FunctionDef):
        for default in [*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)]:
            if isinstance(default, ast.Constant):
                yield from ((default, text) for text in _other_constant(default.value))


def wrong_name(node: ast.AST, around: Around) -> Iterator[Change]:
    """Another variable of the same function."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in around.names:
        place = around.names.index(node.id)
        for other in dict.fromkeys((around.names[place - 1], around.names[(place + 1) % len(around.names)])):
            if other != node.id:
                yield node, other


def wrong_attribute(node: ast.AST, around: Around) -> Iterator[Change]:
    """Another attribute of the same object."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr in around.attributes:
        place = around.attributes.index(node.attr)
        other = around.attributes[(place + 1) % len(around.attributes)]
        if other != node.attr:
            yield node, f"{around.text(node.value)}.{other}"


def missing_call(node: ast.AST, around: Around) -> Iterator[Change]:
    """A call that only tidies up is missing: strip, lower, sorted, abs."""
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Attribute) and node.func.attr in _TIDYING and not node.args and not node.keywords:
        yield node, around.text(node.func.value)
    elif _name(node.func) in _WRAPPERS and len(node.args) >= 1 and not node.keywords:
        yield node, around.text(node.args[0])


def missing_key(node: ast.AST, around: Around) -> Iterator[Change]:
    """A sort or a choice without its key, or in the other direction."""
    if isinstance(node, ast.Call) and any(k.arg in ("key", "reverse", "default") for k in node.keywords):
        for gone in node.keywords:
            if gone.arg in ("key", "reverse"):
                kept = [f"{k.arg}={around.text(k.value)}" for k in node.keywords if k is not gone and k.arg]
                given = [around.text(each) for each in node.args]
                yield node, f"{around.text(node.func)}({', '.join([*given, *kept])})"


def twin(node: ast.AST, around: Around) -> Iterator[Change]:
    """`min` for `max`, `any` for `all`."""
    if isinstance(node, ast.Call) and _name(node.func) in _TWINS:
        yield node.func, _TWINS[_name(node.func)]


def loop_control(node: ast.AST, around: Around) -> Iterator[Change]:
    """A loop that goes on where it should stop, or stops where it should go on."""
    if isinstance(node, ast.Continue):
        yield node, "break"
    elif isinstance(node, ast.Break):
        yield node, "continue"


def other_branch(node: ast.AST, around: Around) -> Iterator[Change]:
    """The two outcomes of a condition have changed places."""
    if isinstance(node, ast.IfExp):
        yield node, f"{around.text(node.orelse)} if {around.text(node.test)} else {around.text(node.body)}"


def update(node: ast.AST, around: Around) -> Iterator[Change]:
    """A running total is set instead of raised, or goes the wrong way."""
    if isinstance(node, ast.AugAssign) and type(node.op) in _SIGNS:
        target, value = around.text(node.target), around.text(node.value)
        yield node, f"{target} = {value}"
        yield node, f"{target} {_ARITHMETIC[type(node.op)]}= {value}"


def constant(node: ast.AST, around: Around) -> Iterator[Change]:
    """A returned truth value or a number next to the right one."""
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant):
        yield from ((node.value, text) for text in _other_constant(node.value.value))
    elif isinstance(node, ast.Compare):
        for each in node.comparators:
            if isinstance(each, ast.Constant) and isinstance(each.value, int) and not isinstance(each.value, bool):
                yield each, str(each.value + 1)


Operator = Callable[[ast.AST, Around], Iterator[Change]]

OPERATORS: dict[str, Operator] = {
    operator.__name__: operator
    for operator in (
        boundary,
        inverted,
        connective,
        dropped_clause,
        arithmetic,
        off_by_one,
        slice_edge,
        swapped_arguments,
        wrong_default,
        wrong_name,
        wrong_attribute,
        missing_call,
        missing_key,
        twin,
        loop_control,
        other_branch,
        update,
        constant,
    )
}


def _compared(node: ast.Compare, around: Around, table: dict[type[ast.cmpop], str]) -> Iterator[Change]:
    """One operator of a chain at a time; the others as they are."""
    for place, operator in enumerate(node.ops):
        if type(operator) in table:
            texts = [around.text(node.left)]
            for at, (each, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
                texts += [table[type(each)] if at == place else _SPELT[type(each)], around.text(right)]
            yield node, " ".join(texts)


_SPELT: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}


def _moved(node: ast.expr, text: str, step: int) -> str:
    """One place further; a number is written as the next number, not as a sum."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return str(node.value + step)
    return f"{text} {'+' if step > 0 else '-'} {abs(step)}"


def _cut(owner: str, low: str, high: str) -> str:
    """Blanks around the colon where one side is more than a word, as formatters write it."""
    wide = " " in low or " " in high
    left, right = (f"{low} " if low and wide else low), (f" {high}" if high and wide else high)
    return f"{owner}[{left}:{right}]"


def _other_constant(value: object) -> Iterator[str]:
    if isinstance(value, bool):
        yield str(not value)
    elif isinstance(value, int | float):
        yield repr(value + 1)
        if value:
            yield repr(type(value)(0))


def _is_number(node: ast.expr, number: int) -> bool:
    return isinstance(node, ast.Constant) and node.value == number and not isinstance(node.value, bool)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""
