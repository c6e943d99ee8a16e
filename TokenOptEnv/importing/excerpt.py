"""The second pass: of each source, what is kept around the quoted places, within a number of tokens.

Every quoted place, and the beginning of every source that nobody quotes, is a centre; all centres get the same
reach. Reaches are first measured in characters, which need no counting, and then cut to what real counts allow: so
tokens are counted only of what may be kept, however large the source is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from TokenOptEnv.config import YARDSTICK
from TokenOptEnv.errors import BadInput
from TokenOptEnv.importing.quotes import Extent, Hit
from TokenOptEnv.importing.sources import Source
from TokenOptEnv.importing.text_blocks import Block
from TokenOptEnv.simulators import tokens

_CHARACTERS_PER_TOKEN: Final = 4
"""Hardly any text has more, so what is read within this may be too much and is never too little."""
_LONGEST_KEPT_LINE: Final = 8_000
_BREAK_WITHIN: Final = 400
_BETWEEN: Final = re.compile(r"[^\w.@:/+=-]")
_CUT: Final = "…"
_COUNT_SLACK: Final = 0.98
"""Lines counted alone and lines counted in a segment differ a little."""


@dataclass(frozen=True, slots=True)
class KeptLine:
    number: int
    text: str
    tokens: int
    distance: int
    """In characters, to the nearest centre of its source."""
    is_shortened: bool


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What of a source goes into the scenario, in runs of consecutive lines."""

    source: Source
    runs: tuple[tuple[KeptLine, ...], ...]
    extent: Extent

    @property
    def shortened_lines(self) -> int:
        return sum(line.is_shortened for run in self.runs for line in run)

    @property
    def lines(self) -> int:
        return sum(len(run) for run in self.runs)

    @property
    def tokens(self) -> int:
        return sum(line.tokens for run in self.runs for line in run)

    @property
    def dropped_tokens(self) -> int:
        """An estimate, from the characters of what was kept: what is dropped is never counted."""
        kept = sum(len(line.text) + 1 for run in self.runs for line in run)
        return round((self.extent.characters - kept) * self.tokens / kept) if kept < self.extent.characters else 0

    @property
    def text(self) -> str:
        """With a line for every gap, so that nobody takes what stands apart for neighbours."""
        parts: list[str] = []
        expected = 1
        for run in self.runs:
            parts += [*_gap(run[0].number - expected), *(line.text for line in run)]
            expected = run[-1].number + 1
        return "\n".join([*parts, *_gap(self.extent.lines + 1 - expected)])


def take_excerpts(
    sources: Sequence[Source], extents: Mapping[str, Extent], hits: Sequence[Hit], most_tokens: int
) -> tuple[Excerpt, ...]:
    centres = {source.name: _centres(source, hits) for source in sources}
    reach = _reach(centres, extents, most_tokens * _CHARACTERS_PER_TOKEN)
    taken = {source.name: _take(source, centres[source.name], reach) for source in sources}
    limit = _affordable(taken, int(most_tokens * _COUNT_SLACK))
    return tuple(
        Excerpt(
            source=source,
            runs=_runs([line for line in taken[source.name] if line.distance <= limit]),
            extent=extents[source.name],
        )
        for source in sources
    )


def _centres(source: Source, hits: Sequence[Hit]) -> tuple[tuple[int, int], ...]:
    """In order, and those that overlap as one: every line of a quote is at no distance from it."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted((hit.start, hit.end) for hit in hits if hit.source == source.name):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged) or ((0, 0),)


def _reach(
    centres: Mapping[str, Sequence[tuple[int, int]]], extents: Mapping[str, Extent], most_characters: int
) -> int:
    """The widest reach, the same for all, whose windows together stay within so many characters."""
    low, high = 0, max(extents[name].characters for name in centres)
    while low < high:
        middle = (low + high + 1) // 2
        covered = sum(_covered(spans, extents[name].characters, middle) for name, spans in centres.items())
        low, high = (middle, high) if covered <= most_characters else (low, middle - 1)
    return low


def _covered(spans: Sequence[tuple[int, int]], characters: int, reach: int) -> int:
    covered = done = 0
    for start, end in spans:
        first, last = max(done, start - reach), min(characters, end + reach)
        covered += max(0, last - first)
        done = max(done, last)
    return covered


def _take(source: Source, spans: Sequence[tuple[int, int]], reach: int) -> list[KeptLine]:
    kept: list[KeptLine] = []
    starts = [start for start, _ in spans]
    for block in source.blocks():
        if not any(start - reach < block.end and block.offset < end + reach + 1 for start, end in spans):
            continue
        _take_block(block, spans, starts, reach, kept)
    return kept


def _take_block(
    block: Block, spans: Sequence[tuple[int, int]], starts: Sequence[int], reach: int, kept: list[KeptLine]
) -> None:
    at = block.offset
    for number, line in enumerate(block.text[:-1].split("\n"), start=block.first_line):
        near = bisect_right(starts, at)
        beside = [spans[index] for index in (near - 1, near) if 0 <= index < len(spans)]
        distance = min(max(0, start - at - len(line), at - end) for start, end in beside)
        if distance <= reach:
            inside = next((start - at for start, end in beside if at <= start <= at + len(line)), 0)
            text = _shortened(line, inside)
            kept.append(KeptLine(number, text, tokens.count(YARDSTICK, text + "\n"), distance, text != line))
        at += len(line) + 1


def _shortened(line: str, around: int) -> str:
    """A line of a megabyte is no line that anybody reads: the part around the quote is kept.

    It is cut between words where there are any: half a secret would not be known for one.
    """
    if len(line) <= _LONGEST_KEPT_LINE:
        return line
    start = min(max(0, around - _LONGEST_KEPT_LINE // 4), len(line) - _LONGEST_KEPT_LINE)
    end = start + _LONGEST_KEPT_LINE
    before = _BETWEEN.search(line, start, min(around, start + _BREAK_WITHIN)) if start else None
    after = list(_BETWEEN.finditer(line, end - _BREAK_WITHIN, end)) if end < len(line) else []
    first, last = before.end() if before else start, after[-1].start() if after else end
    return (_CUT if start else "") + line[first:last] + (_CUT if end < len(line) else "")


def _affordable(taken: Mapping[str, Sequence[KeptLine]], most_tokens: int) -> int:
    """The widest distance whose lines together stay within so many tokens."""
    lines = sorted((line.distance, line.tokens) for kept in taken.values() for line in kept)
    quoted = sum(count for distance, count in lines if distance == 0)
    if quoted > most_tokens:
        raise BadInput(f"the quoted lines alone take {quoted} tokens of {most_tokens}; quote fewer places")
    used, limit = 0, 0
    for distance, count in lines:
        used += count
        if used > most_tokens:
            return min(limit, distance - 1)
        limit = distance
    return limit


def _runs(lines: Sequence[KeptLine]) -> tuple[tuple[KeptLine, ...], ...]:
    runs: list[list[KeptLine]] = []
    for line in lines:
        if runs and runs[-1][-1].number + 1 == line.number:
            runs[-1].append(line)
        else:
            runs.append([line])
    return tuple(tuple(run) for run in runs)


def _gap(lines: int) -> tuple[str, ...]:
    if lines <= 0:
        return ()
    return ("[1 line left out]" if lines == 1 else f"[{lines:,} lines left out]",)
