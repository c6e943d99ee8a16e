"""Hidden tests as lines of text: what is called, never what is expected.

    span.Span(540, 600) | holds(600) | minutes | _1.bit_length()

calls `Span` of the package's module `span` and then, on what it returned, each step behind a bar: a method, or an
attribute to read. `_1` is what step number 1 returned. An argument may be such a line itself; then it is the object
that its steps leave behind. What a line gives on the correct package is what a patch has to give.
"""

from __future__ import annotations

import ast
import re
from functools import cache

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.task_defs.bugfix.generator.library import lore, modules
from TokenOptEnv.task_defs.execution import Call, Earlier, Method, Reference, Value

_STEP_NUMBER = re.compile(r"_(\d+)")


@cache
def hidden_calls(package: str) -> tuple[Call, ...]:
    return tuple(parse_call(package, line) for line in lore(package).hidden)


def parse_call(package: str, line: str) -> Call:
    reader = _Reader(package, line)
    return reader.call(ast.parse(line, mode="eval").body)


class _Reader:
    def __init__(self, package: str, line: str) -> None:
        self._package = package
        self._line = line
        self._modules = {path.rpartition("/")[2].removesuffix(".py") for path in modules(package)}

    def call(self, node: ast.expr) -> Call:
        *steps, first = reversed(list(self._piped(node)))
        match first:
            case ast.Call(func=ast.Attribute() as function):
                module, _, name = self._dotted(function).partition(".")
                return Call(
                    module=f"{self._package}.{module}",
                    function=name,
                    args=self._positional(first),
                    kwargs=self._named(first),
                    then=tuple(self._step(step) for step in reversed(steps)),
                )
            case _:
                raise self._fault(first)

    def _piped(self, node: ast.expr) -> list[ast.expr]:
        match node:
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return [*self._piped(left), right]
            case _:
                return [node]

    def _step(self, node: ast.expr) -> Method:
        function = node.func if isinstance(node, ast.Call) else node
        name = self._dotted(function)
        owner, _, rest = name.partition(".")
        number = _STEP_NUMBER.fullmatch(owner)
        on = Earlier(int(number.group(1))) if number else None
        name = rest if number else name
        if isinstance(node, ast.Call):
            return Method(name, self._positional(node), self._named(node), on)
        return Method(name, on=on)

    def _positional(self, node: ast.Call) -> tuple[Value, ...]:
        return tuple(self._value(each) for each in node.args)

    def _named(self, node: ast.Call) -> dict[str, Value]:
        return {keyword.arg or "": self._value(keyword.value) for keyword in node.keywords}

    def _value(self, node: ast.expr) -> Value:
        match node:
            case ast.Call() | ast.BinOp(op=ast.BitOr()):
                return self.call(node)
            case ast.List(elts=items):
                return [self._value(item) for item in items]
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                return {str(ast.literal_eval(key)): self._value(value) for key, value in pairs if key is not None}
            case ast.Name(id=name) if number := _STEP_NUMBER.fullmatch(name):
                return Earlier(int(number.group(1)))
            case ast.Name(id=name):
                return Reference("builtins", name)
            case ast.Attribute():
                module, _, name = self._dotted(node).partition(".")
                return Reference(f"{self._package}.{module}", name)
            case _:
                literal: Value = ast.literal_eval(node)
                return literal

    def _dotted(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=inner, attr=name):
                return f"{self._dotted(inner)}.{name}"
            case _:
                raise self._fault(node)

    def _fault(self, node: ast.expr) -> ScenarioInvalid:
        return ScenarioInvalid(
            f"{self._package}: cannot read {ast.unparse(node)!r} in the hidden test {self._line!r}; "
            "write module.name(arguments) | step | step(arguments)"
        )
