"""Lexical retrieval: BM25 over segments.

Score of a segment: the sum over the query's distinct terms of

    idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length))
    idf(t) = ln(1 + (N - df + .5) / (df + .5))

with k1 = 1.2 and b = .75, the values of the literature (Robertson and Zaragoza 2009) and of most search engines.
Written here without numpy, so that an episode loads nothing heavy. What depends on the corpus alone is done once: each
posting holds its finished weight as a whole number of ten-thousandths. So a query is a few additions of integers,
scores have four decimals by construction, and the order of addition cannot change a ranking.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import nlargest
from math import log
from typing import NamedTuple

from TokenOptEnv.simulators import terms

K1 = 1.2
B = 0.75
SNIPPET_CHARACTERS = 160
_UNITS = 10_000
_CUT = "…"


class Hit(NamedTuple):
    segment_id: str
    score: float
    snippet: str
    """The line that matches best, or the part of it around the match."""


class Retriever:
    """An index over `(segment_id, text)` pairs; the lines of a segment are indexed when it is first found."""

    def __init__(self, segments: Sequence[tuple[str, str]]) -> None:
        self._segments = tuple(segments)
        self._line_indexes: dict[int, _LineIndex] = {}
        counts = [Counter(terms.terms(text)) for _, text in self._segments]
        lengths = [counted.total() for counted in counts]
        mean_length = sum(lengths) / max(1, len(lengths)) or 1.0
        found_in: dict[str, list[tuple[int, int]]] = {}
        for index, counted in enumerate(counts):
            for term, frequency in counted.items():
                found_in.setdefault(term, []).append((index, frequency))
        size = len(counts)
        damping = [K1 * (1 - B + B * length / mean_length) for length in lengths]
        self._idf: dict[str, int] = {}
        self._postings: dict[str, dict[int, int]] = {}
        for term, places in found_in.items():
            idf = log(1 + (size - len(places) + 0.5) / (len(places) + 0.5))
            self._idf[term] = round(_UNITS * idf)
            self._postings[term] = {
                index: size * round(_UNITS * idf * frequency * (K1 + 1) / (frequency + damping[index])) - index
                for index, frequency in places
            }

    def search(self, query: str, top_k: int) -> tuple[Hit, ...]:
        """The `top_k` best segments that hold a term of the query; equal scores in the order of the segments."""
        asked = self._known(query)
        size = len(self._segments)
        best = self._best(asked, top_k)
        asked.sort()
        asked.sort(key=self._idf.__getitem__, reverse=True)  # the rarest first, equals still by name
        return tuple([self._hit(-key % size, -(-key // size), asked) for key in best])

    def ranked(self, query: str, top_k: int) -> tuple[str, ...]:
        """The ids alone, for those who search often and read little."""
        size = len(self._segments)
        return tuple(self._segments[-key % size][0] for key in self._best(self._known(query), top_k))

    def scores(self, query: str) -> dict[str, float]:
        """Of every segment that holds a term of the query."""
        size = len(self._segments)
        totals = self._totals(self._known(query)).values()
        return {self._segments[-key % size][0]: -(-key // size) / _UNITS for key in totals}

    def _known(self, query: str) -> list[str]:
        return [term for term in terms.distinct(query) if term in self._postings]

    def _best(self, asked: Sequence[str], top_k: int) -> list[int]:
        return nlargest(top_k, self._totals(asked).values())

    def _totals(self, asked: Sequence[str]) -> dict[int, int]:
        """One integer, `size * score - index`, is both score and tie-break, so ranking compares plain integers.

        The longest posting list, often that of a word in every segment, is copied and not added up.
        """
        if not asked:
            return {}
        longest, *others = sorted(map(self._postings.__getitem__, asked), key=len, reverse=True)
        totals = longest.copy()
        for posting in others:
            for index, key in posting.items():
                totals[index] = totals[index] + key + index if index in totals else key
        return totals

    def _hit(self, index: int, score: int, asked: Sequence[str]) -> Hit:
        lines = self._line_indexes.get(index)
        if lines is None:
            lines = self._line_indexes[index] = _LineIndex(self._segments[index][1])
        return Hit(self._segments[index][0], score / _UNITS, lines.snippet(asked, self._idf))


class _LineIndex:
    """Which lines of one segment hold which term."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        found: dict[str, dict[int, None]] = {}
        for number, line in enumerate(self._lines):
            for term in terms.terms(line):
                found.setdefault(term, {})[number] = None
        self._numbers = {term: tuple(numbers) for term, numbers in found.items()}
        self._cuts: dict[tuple[int, str], str] = {}
        """Of long lines: by line and term, what was shown around it."""

    def snippet(self, asked: Sequence[str], idf: Mapping[str, int]) -> str:
        """The line with the most weight of asked terms, the first among equals; if long, around its rarest."""
        weights: dict[int, int] = {}
        for term in asked:
            if numbers := self._numbers.get(term):
                weight = idf[term]
                for number in numbers:
                    weights[number] = weights.get(number, 0) + weight
        most = max(weights.values())
        best = min([number for number, weight in weights.items() if weight == most])
        line = self._lines[best]
        if len(line) <= SNIPPET_CHARACTERS:
            return line.strip()
        rarest = next(term for term in asked if best in self._numbers.get(term, ()))
        cut = self._cuts.get((best, rarest))
        if cut is None:
            offset = next(offset for offset, found in terms.positions(line) if rarest in found)
            cut = self._cuts[best, rarest] = _around(line, offset)
        return cut


def _around(line: str, offset: int) -> str:
    margin = len(line) - len(line.lstrip())
    line, offset = line.strip(), max(0, offset - margin)
    if len(line) <= SNIPPET_CHARACTERS:
        return line
    start = min(max(0, offset - SNIPPET_CHARACTERS // 2), len(line) - SNIPPET_CHARACTERS)
    end = start + SNIPPET_CHARACTERS
    return (_CUT if start else "") + line[start:end] + (_CUT if end < len(line) else "")
