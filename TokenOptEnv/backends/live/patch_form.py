"""A model's diff in the one form that verdicts are kept under: no context lines, a hunk for each run of changes.

The lines changed and their numbers stay what they are: a patch is rewritten, never mended.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_FENCE = re.compile(r"\A\s*```\w*\n(.*?)\n?```\s*\Z", flags=re.DOTALL)


def minimal_patch(patch: str) -> str:
    """The same change, shortest; a text that is no such diff is left as it is."""
    fenced = _FENCE.match(patch)
    text = (fenced[1] if fenced else patch).strip("\n")
    lines = text.split("\n")
    starts = [at for at, line in enumerate(lines) if _HUNK.match(line) or _begins_file(lines, at)]
    written: list[str] = []
    for start, end in pairwise([*starts, len(lines)]):
        header = _HUNK.match(lines[start])
        if header is None:
            written += [line.split("\t")[0].rstrip() for line in lines[start : start + 2]]
        else:
            written += _hunks(lines[start + 1 : end], int(header[1]), int(header[2]))
    return "\n".join(written) if any(map(_HUNK.match, written)) else text


def _begins_file(lines: Sequence[str], at: int) -> bool:
    """A removed line may begin with two dashes as well, but hardly with such a neighbour."""
    return lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")


def _hunks(body: Sequence[str], old: int, new: int) -> Iterator[str]:
    kept = [line for line in body if not line.startswith("\\")]
    for changed, run in groupby(kept, key=lambda line: line.startswith(("-", "+"))):
        lines = list(run)
        removed = [line for line in lines if changed and line.startswith("-")]
        added = [line for line in lines if changed and line.startswith("+")]
        if changed:
            yield f"@@ -{_span(old, removed)} +{_span(new, added)} @@"
            yield from (*removed, *added)
        old += len(removed) if changed else len(lines)
        new += len(added) if changed else len(lines)


def _span(first: int, lines: Sequence[str]) -> str:
    """A side without lines stands after the line before it, as diff writes it."""
    if not lines:
        return f"{max(0, first - 1)},0"
    return str(first) if len(lines) == 1 else f"{first},{len(lines)}"
