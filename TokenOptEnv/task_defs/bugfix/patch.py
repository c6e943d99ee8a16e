"""Candidate patches: minimal unified diffs, written and applied."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from TokenOptEnv.errors import BadInput

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class _Hunk:
    path: str
    start: int
    """1-based line of the old file that the hunk begins at."""
    old: tuple[str, ...]
    new: tuple[str, ...]


def one_line_patch(files: Mapping[str, str], path: str, old: str, new: str) -> str:
    """The diff that turns the one line with `old` in it into the same line with `new`."""
    number = line_of(files, path, old)
    line = files[path].split("\n")[number - 1]
    return f"--- a/{path}\n+++ b/{path}\n@@ -{number} +{number} @@\n-{line}\n+{line.replace(old, new)}"


def line_of(files: Mapping[str, str], path: str, text: str) -> int:
    """The 1-based number of the one line that holds `text`."""
    found = [number for number, line in enumerate(files[path].split("\n"), start=1) if text in line]
    if len(found) != 1:
        raise BadInput(f"{path}: {text!r} stands in {len(found)} lines; name a text that stands in one")
    return found[0]


def apply_patch(files: Mapping[str, str], patch: str) -> dict[str, str]:
    """`files` with `patch` applied. A patch that does not fit is an error, never a patch applied elsewhere."""
    hunks = _parse(patch)
    if not hunks:
        raise BadInput(
            "the patch has no hunk; write --- a/path, +++ b/path, @@ -line +line @@, then -old and +new lines"
        )
    patched = dict(files)
    shift: dict[str, int] = {}
    for hunk in hunks:
        if hunk.path not in patched:
            raise BadInput(f"the patch changes {hunk.path!r}, which is not a file of the package")
        lines = patched[hunk.path].split("\n")
        at = hunk.start - 1 + shift.get(hunk.path, 0) + (0 if hunk.old else 1)
        if tuple(lines[at : at + len(hunk.old)]) != hunk.old:
            raise BadInput(f"the patch does not fit {hunk.path} at line {hunk.start}: other text stands there")
        lines[at : at + len(hunk.old)] = hunk.new
        shift[hunk.path] = shift.get(hunk.path, 0) + len(hunk.new) - len(hunk.old)
        patched[hunk.path] = "\n".join(lines)
    return patched


def _parse(patch: str) -> list[_Hunk]:
    hunks: list[_Hunk] = []
    path = ""
    lines = patch.rstrip("\n").split("\n")
    index = 0
    while index < len(lines):
        line = lines[index]
        header = _HUNK.match(line)
        index += 1
        if line.startswith("+++ "):
            path = line[4:].split("\t")[0].strip().removeprefix("b/")
        elif header is not None:
            body = _body(lines, index, int(header.group(2) or 1), int(header.group(4) or 1))
            index += len(body)
            hunks.append(
                _Hunk(
                    path=path,
                    start=int(header.group(1)),
                    old=tuple(piece[1:] for piece in body if piece[:1] in ("-", " ")),
                    new=tuple(piece[1:] for piece in body if piece[:1] in ("+", " ")),
                )
            )
    return hunks


def _body(lines: list[str], start: int, old_left: int, new_left: int) -> list[str]:
    """The header's counts say where a hunk ends: a removed `-- x` line looks like a file header otherwise."""
    body: list[str] = []
    while (old_left > 0 or new_left > 0) and start + len(body) < len(lines):
        line = lines[start + len(body)] or " "
        if line[0] not in "-+ ":
            break
        old_left -= line[0] in "- "
        new_left -= line[0] in "+ "
        body.append(line)
    return body
