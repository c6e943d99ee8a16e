"""Changes that no test can see: docstrings, annotations, the order of imports, names of locals."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from TokenOptEnv.task_defs.ci.generator.undo.spot import FunctionNode, Source, Spot, indent_of, with_lines

_OLDER_NAMES = ("res", "val", "tmp", "cur", "obj", "acc", "buf", "elem")


def docstring(source: Source) -> Iterator[Spot]:
    """Written later than the code."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or len(node.body) < 2:
            continue
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            yield Spot(with_lines(source, first.lineno, first.end_lineno or first.lineno), node.name)


def signature(source: Source) -> Iterator[Spot]:
    """A signature on one line, before anybody annotated it."""
    for function in source.functions:
        header = source.lines[function.lineno - 1]
        arguments = function.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        told = [argument for argument in every if argument.annotation is not None]
        if (
            function.returns is None
            or not told
            or not header.endswith(":")
            or function.body[0].lineno == function.lineno
        ):
            continue
        kept = [argument.annotation for argument in every]
        for argument in every:
            argument.annotation = None
        bare = ast.unparse(arguments)
        for argument, annotation in zip(every, kept, strict=True):
            argument.annotation = annotation
        word = "async def" if isinstance(function, ast.AsyncFunctionDef) else "def"
        if "lambda" in bare or "'" in bare or arguments.vararg or arguments.kwarg:
            continue
        line = f"{indent_of(source, function.lineno)}{word} {function.name}({bare}):"
        yield Spot(with_lines(source, function.lineno, function.lineno, line), function.name)


def imports(source: Source) -> Iterator[Spot]:
    """Two neighbouring imports in the other order."""
    for first, second in zip(source.tree.body, source.tree.body[1:], strict=False):
        both = (first, second)
        if not all(isinstance(each, ast.Import | ast.ImportFrom) for each in both):
            continue
        if isinstance(first, ast.ImportFrom) and first.module == "__future__":
            continue
        if first.lineno != first.end_lineno or second.lineno != first.lineno + 1 or second.end_lineno != second.lineno:
            continue
        lines = source.lines
        yield Spot(
            with_lines(source, first.lineno, second.lineno, lines[second.lineno - 1], lines[first.lineno - 1]),
            source.module,
        )


def local_name(source: Source) -> Iterator[Spot]:
    """A local that had a poorer name."""
    older = next((each for each in _OLDER_NAMES if each not in source.text), None)
    if older is None:
        return
    for function, nodes in source.nodes.items():
        names = [node for node in nodes if isinstance(node, ast.Name)]
        for name in _locals(function, nodes):
            uses = [node for node in names if node.id == name]
            if len(uses) < 2 or any(source.segment(node) != name for node in uses):
                continue
            lines = list(source.lines)
            for node in sorted(uses, key=lambda node: (node.lineno, node.col_offset), reverse=True):
                line = lines[node.lineno - 1]
                lines[node.lineno - 1] = line[: node.col_offset] + older + line[node.col_offset + len(name) :]
            yield Spot("\n".join(lines), function.name)


def _locals(function: FunctionNode, nodes: Sequence[ast.AST]) -> list[str]:
    """Names that only assignments of this function bind; none where an inner function or a text could use them."""
    hiding = (ast.FunctionDef, ast.Lambda, ast.Global, ast.Nonlocal, ast.JoinedStr)
    if any(isinstance(node, hiding) and node is not function for node in nodes):
        return []
    bound = [node.arg for node in nodes if isinstance(node, ast.arg)]
    bound += [node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name]
    stored = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return [name for name in dict.fromkeys(stored) if name not in bound and len(name) > 2]
