"""A case in the making: the builder, and a look at where quotes have come to stand and what a search would show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from TokenOptEnv.config import SEARCH_MAX_TOP_K, YARDSTICK
from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.scenario import Segment
from TokenOptEnv.simulators import terms, tokens
from TokenOptEnv.simulators.retrieval import Retriever
from TokenOptEnv.task_defs.authoring import CaseBuilder
from TokenOptEnv.task_defs.bugfix.generator.evidence import Clue
from TokenOptEnv.task_defs.bugfix.generator.exhibits import Exhibit

_TOP = 4


class Sheet:
    def __init__(self, builder: CaseBuilder) -> None:
        self.builder = builder
        self._segments: dict[str, tuple[Segment, ...]] = {}
        self._facts: set[str] = set()
        self._decoys: set[str] = set()
        self._retrievers: dict[tuple[str, ...], Retriever] = {}
        self._spread: Counter[str] = Counter()

    def lay(self, exhibits: Iterable[Exhibit]) -> None:
        for exhibit in exhibits:
            self._segments[exhibit.artifact_id] = self.builder.artifact(
                exhibit.artifact_id, exhibit.kind, exhibit.title, exhibit.text
            )

    @property
    def size_tokens(self) -> int:
        return sum(tokens.count(YARDSTICK, s.text) for segments in self._segments.values() for s in segments)

    def places(self, clue: Clue) -> list[str]:
        """The segments that show a clue, the first one first."""
        found = [
            segment.segment_id
            for quote in clue.quotes
            for segment in self._segments[quote.artifact_id]
            if quote.text in segment.text
        ]
        if not found:
            raise ScenarioInvalid(f"{clue.clue_id} is cut in two by a segment boundary")
        return found

    def fact(self, clue: Clue) -> str:
        if clue.clue_id not in self._facts:
            self._facts.add(clue.clue_id)
            self.builder.fact(clue.clue_id, clue.why, *clue.quotes)
        return clue.clue_id

    def decoy(self, clue: Clue) -> str:
        if clue.clue_id not in self._decoys:
            self._decoys.add(clue.clue_id)
            self.builder.decoy(f"decoy-{clue.clue_id}", clue.why, *clue.quotes)
        return f"decoy-{clue.clue_id}"

    def segment_text(self, clue: Clue) -> str:
        """All of the first segment that shows a clue."""
        place = self.places(clue)[0]
        return next(s.text for segments in self._segments.values() for s in segments if s.segment_id == place)

    def rare_words(self, text: str, most: int) -> list[str]:
        """The plain words of a text that stand in the fewest segments, rarest first."""
        if not self._spread:
            for segments in self._segments.values():
                for segment in segments:
                    self._spread.update(set(terms.distinct(segment.text)))
        words = [word for word in terms.distinct(text) if word.isalpha() and len(word) > 2]
        return sorted(words, key=lambda word: (self._spread[word], word))[:most]

    def hits(self, query: str, artifacts: Sequence[str] = ()) -> list[str]:
        """What a search shows at most, best first; within some artifacts where phases part them."""
        wanted = tuple(artifacts) or tuple(self._segments)
        if wanted not in self._retrievers:
            self._retrievers[wanted] = Retriever(
                [(segment.segment_id, segment.text) for name in wanted for segment in self._segments[name]]
            )
        return [hit.segment_id for hit in self._retrievers[wanted].search(query, SEARCH_MAX_TOP_K)]

    def shows_all(self, query: str, needed: Sequence[str], artifacts: Sequence[str] = ()) -> bool:
        """Every needed segment among the hits, and most of them at the top."""
        hits = self.hits(query, artifacts)
        top = sum(name in hits[:_TOP] for name in needed)
        return all(name in hits for name in needed) and 2 * top >= len(needed)
