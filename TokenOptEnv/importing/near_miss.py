"""The line that comes closest to a quote that stands nowhere: most such quotes are misspelt, not made up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from heapq import heappush, heappushpop
from typing import Final

from TokenOptEnv.importing.sources import Source

_SHOWN_CHARACTERS: Final = 160
_COMPARED_CHARACTERS: Final = 1_000
_PIECE_CHARACTERS: Final = 6
_MOST_PIECES: Final = 20
_SHORTLIST: Final = 24
_LEAST_LIKENESS: Final = 0.5


@dataclass(frozen=True, slots=True)
class NearLine:
    source: str
    line: int
    text: str


def nearest(quote: str, sources: Iterable[Source]) -> NearLine | None:
    """A shortlist by shared pieces, which is quick, and of that the most alike letter by letter; None if none is."""
    wanted = max(quote.split("\n"), key=len).strip()
    pieces = _pieces(wanted.lower())
    shortlist: list[tuple[int, int, NearLine]] = []
    order = 0
    for source in sources:
        for block in source.blocks():
            lowered = block.text.lower()
            here = [piece for piece in pieces if piece in lowered]
            if not here or (len(shortlist) == _SHORTLIST and len(here) <= shortlist[0][0]):
                continue
            raw = block.text.split("\n")
            for index, line in enumerate(lowered.split("\n")[: len(raw)]):
                shared = sum(piece in line for piece in here)
                if shared and (len(shortlist) < _SHORTLIST or shared > shortlist[0][0]):
                    order -= 1
                    entry = (shared, order, NearLine(source.name, block.first_line + index, raw[index]))
                    (heappush if len(shortlist) < _SHORTLIST else heappushpop)(shortlist, entry)
    ranked = [(_likeness(wanted, near.text), shared, order, near) for shared, order, near in shortlist]
    best = max(ranked, key=lambda entry: entry[:3], default=None)
    if best is None or best[0] < _LEAST_LIKENESS:
        return None
    near = best[3]
    return NearLine(near.source, near.line, _around(near.text, wanted))


def _pieces(text: str) -> tuple[str, ...]:
    """Overlapping parts, spread over the text: a misspelt quote still has most of them."""
    starts = range(max(1, len(text) - _PIECE_CHARACTERS + 1))
    chosen = starts[:: max(1, len(starts) // _MOST_PIECES)]
    return tuple(dict.fromkeys(text[start : start + _PIECE_CHARACTERS] for start in chosen))


def _likeness(wanted: str, line: str) -> float:
    """How much of the quote stands in the line, in its order; the rest of a long line does not count against it."""
    matcher = SequenceMatcher(None, line[:_COMPARED_CHARACTERS], wanted[:_COMPARED_CHARACTERS], autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks()) / max(1, min(len(wanted), _COMPARED_CHARACTERS))


def _around(line: str, wanted: str) -> str:
    """The part of a long line that is most like the quote."""
    line = line.strip()
    if len(line) <= _SHOWN_CHARACTERS:
        return line
    matcher = SequenceMatcher(None, line[:_COMPARED_CHARACTERS], wanted[:_COMPARED_CHARACTERS], autojunk=False)
    at = matcher.find_longest_match().a
    start = min(max(0, at - _SHOWN_CHARACTERS // 4), len(line) - _SHOWN_CHARACTERS)
    end = start + _SHOWN_CHARACTERS
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
