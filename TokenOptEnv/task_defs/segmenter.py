"""Cuts an artifact into segments: whole lines, at most 300 tokens, at natural boundaries where there are any."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from TokenOptEnv.config import SEGMENT_CAP_TOKENS, YARDSTICK
from TokenOptEnv.models import ArtifactKind
from TokenOptEnv.scenario import Segment
from TokenOptEnv.simulators import tokens
from TokenOptEnv.simulators.log_lines import record_starts
from TokenOptEnv.task_defs.segment_title import segment_title

_DEFINITION = re.compile(r"\s*(?:class|def|async\s+def)\s")
_LEAD = re.compile(r"\s*(?:@\w|#)")
_FILE_START = re.compile(r"diff --git |commit \S|Index: ")
_COMMIT_START = re.compile(r"commit [0-9a-f]{7}")
_SECTION = re.compile(r"#{1,4} |\[[^\]]+\]\s*$|---\s*$|={5,}(?: |$)|_{5,} |-{5,} \S|##\[group\]")
_CLOSING = re.compile(r"[\])}]")
_WINDOW_CHARACTERS_PER_TOKEN = 12

_NO, _LINE, _BLOCK, _WHOLE = range(4)
"""How natural it is to begin a segment at a line: not at all, a record, a paragraph or method, a file or section."""


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    """In the artifact; the pieces of a line that had to be broken share it."""
    text: str
    cost: int


def segment_text(artifact_id: str, kind: ArtifactKind, text: str) -> tuple[Segment, ...]:
    """Greedy: a segment grows until its cap, then ends at the best natural boundary in its second half."""
    lines = [
        _Line(number, piece, tokens.count(YARDSTICK, piece + "\n"))
        for number, line in enumerate(text.rstrip("\n").split("\n"), start=1)
        for piece in _fit_line(line)
    ]
    texts = [line.text for line in lines]
    ranks = _ranks(kind, texts)
    segments: list[Segment] = []
    start = 0
    while start < len(lines):
        end, used = start, 0
        while end < len(lines) and (used + lines[end].cost <= SEGMENT_CAP_TOKENS or end == start):
            used += lines[end].cost
            end += 1
        if end < len(lines):
            end = _natural_end(lines, ranks, start, end)
        chunk = "\n".join(texts[start:end]) + "\n"
        while tokens.count(YARDSTICK, chunk) > SEGMENT_CAP_TOKENS and end - start > 1:
            end -= 1
            chunk = "\n".join(texts[start:end]) + "\n"
        segments.append(
            Segment(
                segment_id=f"{artifact_id}-s{len(segments) + 1}",
                title=segment_title(kind, texts, start, end, lines[start].number, lines[end - 1].number),
                text=chunk,
            )
        )
        start = end
    return tuple(segments)


def _fit_line(line: str) -> list[str]:
    """A line longer than a segment is broken: a segment is never over its cap.

    Only a window of the line is counted at a time, or one line of a megabyte would take minutes.
    """
    cap, window = SEGMENT_CAP_TOKENS - 1, SEGMENT_CAP_TOKENS * _WINDOW_CHARACTERS_PER_TOKEN
    pieces = []
    while len(line) > window or tokens.count(YARDSTICK, line + "\n") > cap:
        low, high = 1, min(len(line), window)
        while low < high:
            middle = (low + high + 1) // 2
            if tokens.count(YARDSTICK, line[:middle] + "\n") <= cap:
                low = middle
            else:
                high = middle - 1
        pieces.append(line[:low])
        line = line[low:]
    return [*pieces, line]


def _natural_end(lines: Sequence[_Line], ranks: Sequence[int], start: int, end: int) -> int:
    """The best boundary of the second half, the latest among equals.

    Failing that, a boundary of the first half, if what would be cut apart behind it (a stack trace, a method)
    fits a segment of its own; what fits nowhere is cut where the segment is full.
    """
    floor = start + max(1, (end - start) // 2)
    best = max(range(floor, end + 1), key=lambda cut: (ranks[cut], cut))
    if ranks[best] > _NO:
        return best
    for cut in range(floor - 1, start, -1):
        if ranks[cut] > _NO:
            behind = 0
            for index in range(cut, len(lines)):
                if index > cut and ranks[index] > _NO:
                    break
                behind += lines[index].cost
                if behind > SEGMENT_CAP_TOKENS:
                    return end
            return cut
    return end


def _ranks(kind: ArtifactKind, texts: Sequence[str]) -> list[int]:
    match kind:
        case ArtifactKind.CODE:
            return _code_ranks(texts)
        case ArtifactKind.DIFF | ArtifactKind.HISTORY:
            return [_diff_rank(texts, index) for index in range(len(texts))]
        case ArtifactKind.CONFIG:
            return [_config_rank(texts, index) for index in range(len(texts))]
        case _:
            starts = record_starts(texts)
            ranks = [_NO] * len(texts)
            prose = kind in (ArtifactKind.RUNBOOK, ArtifactKind.TICKET, ArtifactKind.TEST_REPORT)
            for index in starts:
                if texts[index].strip():
                    ranks[index] = _prose_rank(texts, index) if prose else _LINE
            return ranks


def _code_ranks(texts: Sequence[str]) -> list[int]:
    """A definition begins at the comments and decorators above it."""
    ranks = [_NO] * len(texts)
    for index, line in enumerate(texts):
        if _DEFINITION.match(line):
            first = index
            while first and _LEAD.match(texts[first - 1]) and _indent(texts[first - 1]) == _indent(line):
                first -= 1
            ranks[first] = _WHOLE if _indent(line) == 0 else _BLOCK
            ranks[first + 1 : index + 1] = [_NO] * (index - first)
        elif index and line.strip() and not texts[index - 1].strip():
            ranks[index] = _LINE
    return ranks


def _diff_rank(texts: Sequence[str], index: int) -> int:
    line = texts[index]
    if _FILE_START.match(line):
        return _NO if _follows_commit_head(texts, index) else _WHOLE
    if line.startswith("--- ") and index + 1 < len(texts) and texts[index + 1].startswith("+++ "):
        above = texts[index - 1] if index else ""
        return _NO if above.startswith(("diff ", "index ", "new file", "deleted file", "rename")) else _WHOLE
    if line.startswith("@@"):
        return _BLOCK
    return _LINE if line.strip() and not line.startswith((" ", "\t", "+", "-", "Author:", "Date:", "index ")) else _NO


def _follows_commit_head(texts: Sequence[str], index: int) -> bool:
    """The first file of a commit stays with the commit's name, or its change would be read as its neighbour's."""
    if not texts[index].startswith("diff --git "):
        return False
    for above in reversed(texts[:index]):
        if _COMMIT_START.match(above):
            return True
        if above.strip() and not above.startswith(("    ", "Author:", "Date:")):
            return False
    return False


def _config_rank(texts: Sequence[str], index: int) -> int:
    line = texts[index]
    if not line.strip() or _indent(line) or _CLOSING.match(line):
        return _NO
    if _SECTION.match(line):
        return _WHOLE
    above = texts[index - 1] if index else ""
    return _NO if above.startswith(("#", ";", "//")) else _BLOCK


def _prose_rank(texts: Sequence[str], index: int) -> int:
    if _SECTION.match(texts[index]):
        return _WHOLE
    return _BLOCK if index and not texts[index - 1].strip() else _LINE


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
