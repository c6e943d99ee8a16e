"""What of a question's evidence a context shows: measured on the text, never drawn.

A fact is in a context when one of its spans stands in the text of a piece, whoever cut or compressed that
piece; it can be cited when the piece also comes from the segment the span belongs to.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from TokenOptEnv.scenario import Decoy, Fact, Scenario, SubtaskTruth
from TokenOptEnv.simulators.backend import ContextPiece


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found, in context order: by fact and by decoy, the segment to cite (None: seen, but not citable)."""

    facts: dict[str, str | None]
    decoys: dict[str, str | None]

    def without_facts(self) -> Reading:
        return replace(self, facts={})


@dataclass(frozen=True, slots=True)
class _Clue:
    """A fact or decoy with its spans, apart from the segments they stand in."""

    clue_id: str
    is_fact: bool
    texts: tuple[str, ...]
    places: tuple[tuple[str, str], ...]

    def shows(self, text: str) -> bool:
        return any(span in text for span in self.texts)

    def cited_from(self, piece: ContextPiece) -> str | None:
        for segment_id, span in self.places:
            if segment_id in piece.source_ids and span in piece.text:
                return segment_id
        return None


def lures(truth: SubtaskTruth, decoy_ids: Collection[str]) -> int:
    """How many wrong answers these decoys speak for.

    Answers are counted and not spans: ten lines about one innocent suspect tell one wrong story.
    """
    return sum(
        not candidate.right and any(each in decoy_ids for each in candidate.decoy_ids) for candidate in truth.candidates
    )


class EvidenceReader:
    """Reads contexts for one scenario. What a whole segment shows is remembered, since most pieces are whole."""

    def __init__(self, scenario: Scenario) -> None:
        self._segment_texts = {
            segment.segment_id: segment.text for artifact in scenario.public.artifacts for segment in artifact.segments
        }
        facts = {fact.fact_id: fact for fact in scenario.hidden.facts}
        decoys = {decoy.decoy_id: decoy for decoy in scenario.hidden.decoys}
        self._clues = {truth.subtask_id: _clues(truth, facts, decoys) for truth in scenario.hidden.subtasks}
        self._whole: dict[tuple[str, str], tuple[tuple[_Clue, str | None], ...]] = {}

    def read(self, subtask_id: str, context: tuple[ContextPiece, ...]) -> Reading:
        found_facts: dict[str, str | None] = {}
        found_decoys: dict[str, str | None] = {}
        for piece in context:
            for clue, segment_id in self._shown(subtask_id, piece):
                found = found_facts if clue.is_fact else found_decoys
                if found.get(clue.clue_id) is None:
                    found[clue.clue_id] = segment_id
        return Reading(found_facts, found_decoys)

    def _shown(self, subtask_id: str, piece: ContextPiece) -> tuple[tuple[_Clue, str | None], ...]:
        if len(piece.source_ids) == 1 and self._segment_texts.get(piece.source_ids[0]) == piece.text:
            key = (subtask_id, piece.source_ids[0])
            if key not in self._whole:
                self._whole[key] = self._search(subtask_id, piece)
            return self._whole[key]
        return self._search(subtask_id, piece)

    def _search(self, subtask_id: str, piece: ContextPiece) -> tuple[tuple[_Clue, str | None], ...]:
        shown = (clue for clue in self._clues[subtask_id] if clue.shows(piece.text))
        return tuple((clue, clue.cited_from(piece)) for clue in shown)


def _clues(truth: SubtaskTruth, facts: dict[str, Fact], decoys: dict[str, Decoy]) -> tuple[_Clue, ...]:
    """Those that bear on this subtask: its needed facts, and the decoys its wrong answers rest on."""
    decoy_ids = dict.fromkeys(
        decoy_id for candidate in truth.candidates if not candidate.right for decoy_id in candidate.decoy_ids
    )
    needed = [_clue(fact_id, True, facts[fact_id]) for fact_id in truth.needs]
    misleading = [_clue(decoy_id, False, decoys[decoy_id]) for decoy_id in decoy_ids]
    return (*needed, *misleading)


def _clue(clue_id: str, is_fact: bool, source: Fact | Decoy) -> _Clue:
    return _Clue(
        clue_id=clue_id,
        is_fact=is_fact,
        texts=tuple(dict.fromkeys(place.text for place in source.places)),
        places=tuple((place.segment_id, place.text) for place in source.places),
    )
