"""Evidence of a case: clues by name, where they stand, and the fewest segments that show several of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from TokenOptEnv.scenario import Segment
from TokenOptEnv.task_defs.authoring import Quote
from TokenOptEnv.task_defs.incident.generator.logs import Log

_MOST_QUOTES = 4
_NOWHERE = 1 << 20


@dataclass
class Evidence:
    """Of the whole case, or of one leg of it."""

    quotes: dict[str, list[Quote]] = field(default_factory=dict)
    _segments: dict[str, Sequence[Segment]] = field(default_factory=dict)
    _shown_in: dict[str, frozenset[str]] = field(default_factory=dict)

    def add(self, artifact_id: str, log: Log, segments: Sequence[Segment]) -> None:
        self._segments[artifact_id] = segments
        for clue, texts in log.clues.items():
            self.quotes.setdefault(clue, []).extend(Quote(artifact_id, text) for text in texts[:_MOST_QUOTES])

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Segment ids and texts, as a search would see them."""
        return [(segment.segment_id, segment.text) for cut in self._segments.values() for segment in cut]

    def has(self, clue: str) -> bool:
        return clue in self.quotes

    def shown_in(self, clue: str) -> frozenset[str]:
        """Ids of the segments that show a clue."""
        if clue not in self._shown_in:
            self._shown_in[clue] = frozenset(
                segment.segment_id
                for quote in self.quotes[clue]
                for segment in self._segments[quote.artifact_id]
                if quote.text in segment.text
            )
        return self._shown_in[clue]

    def cover(self, clues: Iterable[str]) -> int:
        """How many segments show them all, at the least (greedy, which is exact for so few)."""
        left = [self.shown_in(clue) for clue in clues]
        count = 0
        while left:
            spread: dict[str, int] = {}
            for places in left:
                for segment_id in sorted(places):
                    spread[segment_id] = spread.get(segment_id, 0) + 1
            if not spread:
                return _NOWHERE
            best = max(spread, key=lambda name: (spread[name], name))
            left = [places for places in left if best not in places]
            count += 1
        return count
