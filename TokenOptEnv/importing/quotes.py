"""The first pass: where the quoted texts stand, however large the files are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from TokenOptEnv.errors import BadInput
from TokenOptEnv.importing.near_miss import nearest
from TokenOptEnv.importing.sources import Source, source_named
from TokenOptEnv.importing.text_blocks import Block, NotText

MOST_QUOTED_LINES: Final = 20
_MOST_KEPT_HITS: Final = 64
"""Of one quote in one file: more are counted and not kept."""
_RANGE: Final = re.compile(r"(\d{1,10})(?:\s*-\s*(\d{1,10}))?")


@dataclass(frozen=True, slots=True)
class LineRange:
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """A text that must stand somewhere: in one file, or in any."""

    what: str
    """What an error calls it, such as `fact 'pool-exhausted'`."""
    file: str | None
    quote: str | LineRange


@dataclass(frozen=True, slots=True)
class Hit:
    source: str
    line: int
    start: int
    end: int
    """In characters of the source's text."""


@dataclass(frozen=True, slots=True)
class Found:
    wanted: Wanted
    text: str
    """The quote itself; of a range, the text of its lines."""
    hits: tuple[Hit, ...]
    count: int
    """How often it stands there; `hits` holds the first of them."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much a source holds."""

    lines: int
    characters: int
    windows_1252_lines: int


@dataclass(frozen=True)
class Survey:
    """What the first pass found out. Sources that hold no text are in `skipped`, with the reason."""

    sources: tuple[Source, ...]
    extents: Mapping[str, Extent]
    found: tuple[Found, ...]
    skipped: Mapping[str, str]


def line_range(text: str, what: str) -> LineRange:
    match = _RANGE.fullmatch(text.strip())
    first = int(match[1]) if match else 0
    last = int(match[2] or match[1]) if match else 0
    if match is None or not 1 <= first <= last:
        raise BadInput(f"{what}: lines are written like '1042' or '1042-1044', not {text[:40]!r}")
    if last - first >= MOST_QUOTED_LINES:
        raise BadInput(f"{what}: {last - first + 1} lines are too many to quote; name at most {MOST_QUOTED_LINES}")
    return LineRange(first, last)


def survey(sources: Sequence[Source], wanted: Sequence[Wanted]) -> Survey:
    """Read everything once. A quote that stands nowhere is an error that shows the line that comes closest."""
    places = {each: source_named(each.file, sources).name for each in wanted if each.file is not None}
    extents: dict[str, Extent] = {}
    skipped: dict[str, str] = {}
    finders = [_Finder(each) for each in wanted]
    for source in sources:
        mine = [finder for finder in finders if places.get(finder.wanted, source.name) == source.name]
        try:
            extents[source.name] = _scan(source, mine)
        except NotText as fault:
            if source.was_named or any(place == source.name for place in places.values()):
                raise
            skipped[source.name] = str(fault).removeprefix(f"{source.name}: ")
    readable = tuple(source for source in sources if source.name in extents)
    if not readable:
        raise BadInput(f"none of {len(sources)} files holds text; the first: {next(iter(skipped.items()))[1]}")
    found = tuple(_settled(finder, readable, extents, places) for finder in finders)
    return Survey(readable, extents, found, skipped)


@dataclass
class _Finder:
    """Collects where one wanted text stands while the blocks go by."""

    wanted: Wanted
    hits: list[Hit] = field(default_factory=list)
    count: int = 0
    range_text: list[str] = field(default_factory=list)

    def look(self, source: Source, text: str, first_line: int, offset: int, seen: int) -> None:
        """`text` begins with `seen` characters that were looked at before: a quote may reach over two blocks."""
        if isinstance(self.wanted.quote, LineRange):
            return self._take(source, text[seen:], first_line + text.count("\n", 0, seen), offset + seen)
        at = text.find(self.wanted.quote)
        while at >= 0:
            end = at + len(self.wanted.quote)
            if end > seen:
                self.count += 1
                if len(self.hits) < _MOST_KEPT_HITS:
                    line = first_line + text.count("\n", 0, at)
                    self.hits.append(Hit(source.name, line, offset + at, offset + end))
            at = text.find(self.wanted.quote, end)
        return None

    def _take(self, source: Source, text: str, first_line: int, offset: int) -> None:
        wanted = self.wanted.quote
        assert isinstance(wanted, LineRange)
        if first_line > wanted.last or first_line + text.count("\n") <= wanted.first:
            return
        at = offset
        for number, line in enumerate(text.split("\n")[:-1], start=first_line):
            if wanted.first <= number <= wanted.last:
                self.range_text.append(line)
                start = self.hits[0].start if self.hits else at
                self.hits = [Hit(source.name, wanted.first, start, at + len(line))]
                self.count = 1
            at += len(line) + 1


def _scan(source: Source, finders: Sequence[_Finder]) -> Extent:
    longest = max([1, *(finder.wanted.quote.count("\n") for finder in finders if isinstance(finder.wanted.quote, str))])
    lines = characters = strays = 0
    tail = ""
    for block in source.blocks():
        text, first_line = tail + block.text, block.first_line - tail.count("\n")
        for finder in finders:
            finder.look(source, text, first_line, block.offset - len(tail), len(tail))
        lines, characters = block.first_line - 1 + block.text.count("\n"), block.end
        strays += block.windows_1252_lines
        tail = _last_lines(block, longest)
    return Extent(lines, characters, strays)


def _last_lines(block: Block, count: int) -> str:
    start = len(block.text)
    for _ in range(count + 1):
        start = block.text.rfind("\n", 0, start)
        if start < 0:
            return block.text
    return block.text[start + 1 :]


def _settled(
    finder: _Finder, sources: Sequence[Source], extents: Mapping[str, Extent], places: Mapping[Wanted, str]
) -> Found:
    wanted = finder.wanted
    if isinstance(wanted.quote, LineRange):
        name = places[wanted]
        if len(finder.range_text) <= wanted.quote.last - wanted.quote.first:
            raise BadInput(
                f"{wanted.what}: lines {wanted.quote.first}-{wanted.quote.last} are not all in {name!r},"
                f" which ends at line {extents[name].lines}"
            )
        return _trimmed(finder, name)
    if not finder.hits:
        raise BadInput(f"{wanted.what}: {_not_found(wanted.quote, places.get(wanted), sources)}")
    return Found(wanted, wanted.quote, tuple(finder.hits), finder.count)


def _trimmed(finder: _Finder, name: str) -> Found:
    """Blank lines around a range say nothing, and a segment may end before them."""
    text = "\n".join(finder.range_text)
    if not text.strip():
        raise BadInput(f"{finder.wanted.what}: its lines of {name!r} are blank; name lines that say something")
    (hit,) = finder.hits
    lead = len(text) - len(text.lstrip("\n"))
    text = text.strip("\n")
    exact = Hit(hit.source, hit.line + lead, hit.start + lead, hit.start + lead + len(text))
    return Found(finder.wanted, text, (exact,), 1)


def _not_found(quote: str, file: str | None, sources: Iterable[Source]) -> str:
    searched = [source for source in sources if file is None or source.name == file]
    where = repr(searched[0].name) if len(searched) == 1 else f"any of {len(searched)} files"
    shown = quote if len(quote) <= 80 else quote[:77] + "..."
    close = nearest(quote, searched)
    if close is None:
        return f"quote {shown!r} is not in {where}, and no line there comes close"
    return f"quote {shown!r} is not in {where}; the nearest is {close.source}:{close.line}: {close.text!r}"
