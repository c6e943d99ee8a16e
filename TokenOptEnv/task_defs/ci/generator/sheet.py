"""A case builder that can also be asked where things stand and how well they are found."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from TokenOptEnv.config import SEARCH_MAX_TOP_K, YARDSTICK
from TokenOptEnv.simulators import tokens
from TokenOptEnv.simulators.retrieval import Retriever
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote
from TokenOptEnv.task_defs.ci.generator.evidence import Clue


@dataclass
class Sheet(CaseBuilder):
    _names: dict[tuple[str, str, tuple[Quote, ...]], str] = field(default_factory=dict)
    _retrievers: dict[tuple[str, ...], Retriever] = field(default_factory=dict)

    def places(self, clue: Clue) -> tuple[str, ...]:
        """The segments that show a clue, the one it is best read in first."""
        return tuple(dict.fromkeys(place.segment_id for place in self._places(clue.clue_id, clue.quotes)))

    def place(self, clue: Clue) -> str:
        return self.places(clue)[0]

    def segments_of(self, artifact_id: str) -> tuple[str, ...]:
        return tuple(name for name in self._texts if name.startswith(f"{artifact_id}-s"))

    def text(self, segment_id: str) -> str:
        return self._texts[segment_id]

    def prove(self, clues: Iterable[Clue]) -> tuple[str, ...]:
        """Make facts of clues, each once; returns their ids."""
        ids = []
        for clue in clues:
            name, is_new = self._named("fact", clue)
            if is_new:
                self.fact(name, clue.why, *clue.quotes)
            ids.append(name)
        return tuple(ids)

    def mislead(self, clues: Iterable[Clue]) -> tuple[str, ...]:
        ids = []
        for clue in clues:
            name, is_new = self._named("decoy", clue)
            if is_new:
                self.decoy(name, clue.why, *clue.quotes)
            ids.append(name)
        return tuple(ids)

    def _named(self, kind: str, clue: Clue) -> tuple[str, bool]:
        """One name per set of quotes: the legs of a marathon see the same clue in different places."""
        key = (kind, clue.clue_id, clue.quotes)
        is_new = key not in self._names
        if is_new:
            plain = clue.clue_id if kind == "fact" else f"decoy-{clue.clue_id}"
            others = len([other for other in self._names if other[:2] == key[:2]])
            self._names[key] = f"{plain}-{others + 1}" if others else plain
        return self._names[key], is_new

    def found(self, query: str, scope: Collection[str] = ()) -> tuple[str, ...]:
        """What a search for this surfaces, best first; among the artifacts of `scope`, or among all."""
        key = tuple(scope)
        if key not in self._retrievers:
            texts = [(name, text) for name, text in self._texts.items() if not key or name.rpartition("-s")[0] in key]
            self._retrievers[key] = Retriever(texts)
        return tuple(hit.segment_id for hit in self._retrievers[key].search(query, SEARCH_MAX_TOP_K))

    @property
    def size_tokens(self) -> int:
        return sum(tokens.count(YARDSTICK, text) for text in self._texts.values())

    @cached_property
    def _texts(self) -> dict[str, str]:
        """Asked for once every artifact is there."""
        return {segment.segment_id: segment.text for artifact in self._artifacts for segment in artifact.segments}
