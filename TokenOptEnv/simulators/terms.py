"""Terms: what a text can be found by.

Code and logs are searched by identifiers as often as by words. So `OrderPool.acquire_timeout_ms` is a term as a
whole, for those who know it, and `order`, `pool`, `acquire`, `timeout`, `ms` are terms too, for those who do not.
Numbers, versions and hexadecimal ids stay whole: half an id means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

_WORD = re.compile(r"\w+(?:[.\-/:]\w+)*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T_](\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)?\w*(?:[-:]\w+)*)?")
_ADDRESS = re.compile(r"(\d+(?:\.\d+){3})(?::(\d+))?")
_WHOLE = re.compile(r"(?:0[xX])?(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{6,}|[vV]?\d+(?:[.:]\d+)*[a-zA-Z]{0,2}")
_JOINT = re.compile(r"[.\-/:]")
_UNDERSCORE = re.compile(r"_+")

_FUNCTION_WORDS = (
    "a an and are as at be been but by can did do does for from had has have how i if in into is it its may of on or "
    "our shall should so such than that the their them then there these they this those to was we were what when "
    "where which while who whom whose why will with would you your"
)
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Function words. In a corpus of logs they are rare, so idf alone would take them for the point of a question."""

LONGEST_KEPT = 120
"""Characters. No word of a language or a log is longer; who makes longer ones up would fill the memory with them."""


def split(word: str) -> tuple[str, ...]:
    """The terms of one word as `positions` finds it: itself, and its parts where it has any, each once."""
    return _kept_split(word) if len(word) <= LONGEST_KEPT else _made_split(word)


@lru_cache(maxsize=65_536)
def _kept_split(word: str) -> tuple[str, ...]:
    return _made_split(word)


def _made_split(word: str) -> tuple[str, ...]:
    if compound := _STAMP.fullmatch(word) or _ADDRESS.fullmatch(word):
        return tuple(part for part in compound.groups() if part)
    found = dict.fromkeys([word.lower()])
    if not _WHOLE.fullmatch(word):
        for name in _JOINT.split(word):
            found[name.lower()] = None
            for piece in _UNDERSCORE.split(name):
                parts = [piece] if _WHOLE.fullmatch(piece) else _CAMEL.split(piece)
                found.update(dict.fromkeys(part.lower() for part in parts))
    return tuple(term for term in found if term and term not in STOP_WORDS)


def positions(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Where each word of `text` begins, and its terms."""
    for match in _WORD.finditer(text):
        yield match.start(), split(match.group())


def terms(text: str) -> list[str]:
    """Every term of `text`, in order, with repetitions."""
    words: list[str] = _WORD.findall(text)
    kept = max(map(len, words), default=0) <= LONGEST_KEPT
    return list(chain.from_iterable(map(_kept_split if kept else split, words)))


def distinct(text: str) -> tuple[str, ...]:
    """Every term of `text` once, in order of appearance: what a query asks for."""
    return tuple(dict.fromkeys(terms(text)))
