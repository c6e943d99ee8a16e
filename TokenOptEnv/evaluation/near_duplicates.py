"""Near-duplicates: is a telling segment of one suite nearly one of another?

Two texts are compared as sets of word runs (shingles) with numbers and ids masked, by Jaccard's measure. Comparing
everything with everything takes too long for whole suites, so texts meet only where bands of their MinHash
signatures agree; what meets is then compared exactly. A pair just at the line meets with a probability of over
99 %, so the share reported is the true one but for a hair.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from TokenOptEnv.scenario import Scenario
from TokenOptEnv.simulators.log_lines import masked

ALIKE = 0.6
"""The share of shingles in common from which two segments count as nearly the same."""

_WORDS = 4
_BANDS = 24
_ROWS = 3
_HASHES = _BANDS * _ROWS
_PRIME = (1 << 61) - 1
_WORD = re.compile(r"[A-Za-z_]+|#")

Shingles = frozenset[int]


@dataclass(frozen=True, slots=True)
class Telling:
    """A segment that shows a fact or a decoy."""

    scenario_id: str
    segment_id: str
    shingles: Shingles


@dataclass(frozen=True, slots=True)
class Pair:
    new: Telling
    seen: Telling
    alike: float


def telling_segments(scenario: Scenario) -> Iterator[Telling]:
    facts = [place for fact in scenario.hidden.facts for place in fact.places]
    decoys = [place for decoy in scenario.hidden.decoys for place in decoy.places]
    shown = {place.segment_id for place in (*facts, *decoys)}
    for artifact in scenario.public.artifacts:
        for segment in artifact.segments:
            if segment.segment_id in shown:
                yield Telling(scenario.scenario_id, segment.segment_id, shingles(segment.text))


def shingles(text: str) -> Shingles:
    """Hashes of runs of words; a text shorter than one run is one shingle."""
    words = [word for line in text.splitlines() for word in _WORD.findall(masked(line).lower())]
    runs = (words[place : place + _WORDS] for place in range(max(1, len(words) - _WORDS + 1)))
    return frozenset(_word_hash(" ".join(run)) for run in runs)


def likeness(one: Shingles, other: Shingles) -> float:
    both = len(one & other)
    return both / (len(one) + len(other) - both)


def near_duplicates(new: Iterable[Telling], seen: Iterable[Telling], alike: float = ALIKE) -> list[Pair]:
    """For each new segment that has one, the seen segment most like it."""
    index: dict[tuple[int, bytes], list[Telling]] = {}
    for each in seen:
        for key in _bands(each.shingles):
            index.setdefault(key, []).append(each)
    found = []
    for each in new:
        met = {
            other.segment_id + other.scenario_id: other for key in _bands(each.shingles) for other in index.get(key, ())
        }
        pairs = [Pair(each, other, likeness(each.shingles, other.shingles)) for _, other in sorted(met.items())]
        best = max(pairs, key=lambda pair: pair.alike, default=None)
        if best is not None and best.alike >= alike:
            found.append(best)
    return found


def _bands(members: Shingles) -> Iterator[tuple[int, bytes]]:
    signature = _signature(members)
    for band in range(_BANDS):
        rows = signature[band * _ROWS : (band + 1) * _ROWS]
        yield band, blake2b(repr(rows).encode(), digest_size=8).digest()


def _signature(members: Shingles) -> Sequence[int]:
    """The least of each of many hashes: two sets agree in one of them as often as they are alike."""
    return [min((factor * member + shift) % _PRIME for member in members) for factor, shift in _LINES]


def _word_hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=7).digest(), "big")


_LINES = [(1 + _word_hash(f"factor {number}"), _word_hash(f"shift {number}")) for number in range(_HASHES)]
