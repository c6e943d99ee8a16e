"""What a model is given to read, as it is shown: each piece under its segments' ids, code with its line numbers.

A segment's text alone does not say where it stands, and answers about code name lines. The first number is in the
segment's title. A compressed piece is numbered line by line, where a line stands in its segments once and only once:
no number is better than a wrong one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from TokenOptEnv.episode_state import ContextPiece
from TokenOptEnv.models import ArtifactKind
from TokenOptEnv.scenario import Artifact, PublicScenario, Segment

_FIRST_LINE = re.compile(r"L(\d+)-\d+\b")


class _Place(NamedTuple):
    artifact: Artifact
    segment: Segment

    @property
    def first_line(self) -> int | None:
        found = _FIRST_LINE.match(self.segment.title) if self.artifact.kind is ArtifactKind.CODE else None
        return int(found[1]) if found else None


class EvidenceView:
    def __init__(self, public: PublicScenario) -> None:
        self._places = {
            segment.segment_id: _Place(artifact, segment)
            for artifact in public.artifacts
            for segment in artifact.segments
        }

    def shown(self, piece: ContextPiece) -> str:
        places = [self._places[source] for source in piece.source_ids if source in self._places]
        if not places:
            return f"[note]\n{_ended(piece.text)}"
        ids = ", ".join(piece.source_ids)
        titles = ", ".join(dict.fromkeys(place.artifact.title for place in places))
        whole = len(places) == 1 and piece.text == places[0].segment.text
        return f"[{ids}] {'' if whole else 'parts of '}{titles}\n{_ended(self._text(piece.text, places, whole))}"

    def _text(self, text: str, places: list[_Place], whole: bool) -> str:
        if all(place.first_line is None for place in places):
            return text
        if whole and (first := places[0].first_line) is not None:
            return "\n".join(_numbered(number, line) for number, line in enumerate(_lines(text), start=first))
        known = _unique_lines(places)
        return "\n".join(_numbered(known.get(line), line) for line in _lines(text))


def _unique_lines(places: list[_Place]) -> dict[str, int]:
    standing = [pair for place in places for pair in _standing(place)]
    times = Counter(line for _, line in standing)
    return {line: number for number, line in standing if times[line] == 1 and line.strip()}


def _standing(place: _Place) -> Iterator[tuple[int, str]]:
    if place.first_line is not None:
        yield from enumerate(_lines(place.segment.text), start=place.first_line)


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def _numbered(number: int | None, line: str) -> str:
    return f"{'' if number is None else number:>5} {line}".rstrip()


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"
