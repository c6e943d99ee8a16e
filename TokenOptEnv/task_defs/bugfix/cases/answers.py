"""What the designed cases ask for alike: where the fault is, and the one line that mends it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from TokenOptEnv.models import FieldKind
from TokenOptEnv.task_defs.authoring import CaseBuilder
from TokenOptEnv.task_defs.bugfix.patch import line_of


def ask_place(case: CaseBuilder, file: str, function: str, files: Sequence[str], path: Sequence[str]) -> None:
    """File and function; a function may be named with its module, with its package, or as a call."""
    package, _, module = file.removesuffix(".py").replace("/", ".").partition(".")
    names = (function, f"{module}.{function}", f"{package}.{module}.{function}", f"{function}()")
    case.answer_field("file", "Which file holds the fault?", FieldKind.CHOICE, (file,), path, files)
    case.answer_field("function", "Which function, as Class.method?", FieldKind.TEXT, names, path)


def ask_repair(case: CaseBuilder, line: str, patch: str, path: Sequence[str]) -> None:
    case.answer_field("line", "Which line of the file, by number?", FieldKind.TEXT, (line,), path)
    case.answer_field("patch", "The minimal unified diff.", FieldKind.PATCH, (patch,), path)


def place_of(files: Mapping[str, str], path: str, text: str, patch: str) -> dict[str, str]:
    """The values of a reply that mends the one line of `path` with `text` in it."""
    return {"line": str(line_of(files, path, text)), "patch": patch}
