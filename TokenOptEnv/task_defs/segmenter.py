"""Cuts an artifact into segments: whole lines, at most 300 tokens, at natural boundaries where there are any."""

from __future__ import annotations

import re

from TokenOptEnv.config import SEGMENT_CAP_TOKENS, YARDSTICK
from TokenOptEnv.models import ArtifactKind
from TokenOptEnv.scenario import Segment
from TokenOptEnv.simulators import tokens

_LEVEL = re.compile(r"\b(ERROR|FATAL|CRITICAL|WARN(?:ING)?|FAILED|Traceback)\b", re.IGNORECASE)
_CODE_START = re.compile(r"^(?:class|def|async def|@)\b|^(?:@\w)")
_DIFF_START = re.compile(r"^(?:diff --git|commit )")
_CONTINUATION = re.compile(r"^(?:\s|\tat |Caused by:|\.\.\. \d+ more)")
_TITLE_CHARACTERS = 72


def segment_text(artifact_id: str, kind: ArtifactKind, text: str) -> tuple[Segment, ...]:
    """Greedy: a segment grows until its cap, then ends at the last natural boundary in its second half."""
    lines = [piece for line in text.rstrip("\n").split("\n") for piece in _fit_line(line)]
    costs = [tokens.count(YARDSTICK, line + "\n") for line in lines]
    segments: list[Segment] = []
    start = 0
    while start < len(lines):
        end, used = start, 0
        while end < len(lines) and (used + costs[end] <= SEGMENT_CAP_TOKENS or end == start):
            used += costs[end]
            end += 1
        if end < len(lines):
            end = _natural_end(kind, lines, start, end)
        chunk = "\n".join(lines[start:end]) + "\n"
        while tokens.count(YARDSTICK, chunk) > SEGMENT_CAP_TOKENS and end - start > 1:
            end -= 1
            chunk = "\n".join(lines[start:end]) + "\n"
        segments.append(
            Segment(
                segment_id=f"{artifact_id}-s{len(segments) + 1}",
                title=_title(kind, lines, start, end),
                text=chunk,
            )
        )
        start = end
    return tuple(segments)


def _fit_line(line: str) -> list[str]:
    """A line longer than a segment is broken: a segment is never over its cap."""
    cap = SEGMENT_CAP_TOKENS - 1
    pieces = []
    while tokens.count(YARDSTICK, line + "\n") > cap:
        low, high = 1, len(line)
        while low < high:
            middle = (low + high + 1) // 2
            if tokens.count(YARDSTICK, line[:middle] + "\n") <= cap:
                low = middle
            else:
                high = middle - 1
        pieces.append(line[:low])
        line = line[low:]
    return [*pieces, line]


def _natural_end(kind: ArtifactKind, lines: list[str], start: int, end: int) -> int:
    floor = start + max(1, (end - start) // 2)
    for cut in range(end, floor, -1):
        line = lines[cut]
        if kind is ArtifactKind.CODE:
            if _CODE_START.match(line):
                return cut
        elif kind in (ArtifactKind.DIFF, ArtifactKind.HISTORY):
            if _DIFF_START.match(line):
                return cut
        elif not _CONTINUATION.match(line) and line.strip():
            return cut
    return end


def _title(kind: ArtifactKind, lines: list[str], start: int, end: int) -> str:
    """What an outline shows: where the segment is, how loud it is, and how it begins."""
    where = f"L{start + 1}-{end}"
    chunk = lines[start:end]
    if kind is ArtifactKind.CODE:
        names = [line.strip().rstrip(":") for line in chunk if re.match(r"\s*(?:class|def|async def)\s", line)]
        what = "; ".join(name.split("(")[0] for name in names) or next((line.strip() for line in chunk if line.strip()), "")
    else:
        loud = sum(1 for line in chunk if _LEVEL.search(line))
        first = next((line.strip() for line in chunk if line.strip()), "")
        what = (f"!{loud} " if loud else "") + first
    return f"{where} {what}"[:_TITLE_CHARACTERS]
