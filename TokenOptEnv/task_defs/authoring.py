"""How a case is written down: story, facts, decoys and answers by hand, everything countable derived.

Facts and decoys are named as quotes; the builder finds every segment that shows them, so a quote that
is misspelt or cut in two is an error with its place, never a fact that nobody can read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from TokenOptEnv import catalog
from TokenOptEnv.config import Difficulty
from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.models import AnswerField, ArtifactKind, FieldKind, Slot, Subtask
from TokenOptEnv.scenario import (
    Artifact,
    CacheEntry,
    CacheValidity,
    Candidate,
    Decoy,
    Fact,
    FieldTruth,
    HiddenScenario,
    Phase,
    Place,
    PublicScenario,
    QuestionKind,
    Scenario,
    Segment,
    SubtaskTruth,
)
from TokenOptEnv.simulators import tokens
from TokenOptEnv.task_defs.segmenter import segment_text


@dataclass(frozen=True)
class Quote:
    """Text that stands in an artifact, within one segment; it may stand there more than once."""

    artifact_id: str
    text: str


@dataclass(frozen=True)
class Reply:
    """What a model may answer. `decoys` are what a wrong reply rests on."""

    values: dict[str, str]
    text: str
    decoys: tuple[str, ...] = ()


@dataclass
class CaseBuilder:
    scenario_id: str
    family: str
    difficulty: Difficulty
    title: str
    brief: str
    version: str
    _artifacts: list[Artifact] = field(default_factory=list)
    _facts: list[Fact] = field(default_factory=list)
    _decoys: list[Decoy] = field(default_factory=list)
    _fields: list[AnswerField] = field(default_factory=list)
    _field_truths: list[FieldTruth] = field(default_factory=list)
    _subtasks: list[Subtask] = field(default_factory=list)
    _subtask_truths: list[SubtaskTruth] = field(default_factory=list)
    _entries: list[CacheEntry] = field(default_factory=list)
    _validity: dict[str, CacheValidity] = field(default_factory=dict)
    _verdicts: dict[str, bool] = field(default_factory=dict)
    _phases: list[Phase] = field(default_factory=list)

    def artifact(self, artifact_id: str, kind: ArtifactKind, title: str, text: str) -> tuple[Segment, ...]:
        """Returns what it was cut into: a generator looks where its evidence has come to stand."""
        segments = segment_text(artifact_id, kind, text)
        self._artifacts.append(Artifact(artifact_id=artifact_id, kind=kind, title=title, segments=segments))
        return segments

    def fact(self, fact_id: str, why: str, *quotes: Quote) -> None:
        self._facts.append(Fact(fact_id=fact_id, places=self._places(fact_id, quotes), why=why))

    def decoy(self, decoy_id: str, why: str, *quotes: Quote) -> None:
        self._decoys.append(Decoy(decoy_id=decoy_id, places=self._places(decoy_id, quotes), why=why))

    def answer_field(
        self,
        name: str,
        question: str,
        kind: FieldKind,
        accepted: Sequence[str],
        path: Sequence[str],
        choices: Sequence[str] = (),
    ) -> None:
        """`path`: the facts that evidence for this field must cover."""
        self._fields.append(AnswerField(name=name, question=question, kind=kind, choices=tuple(choices)))
        self._field_truths.append(FieldTruth(name=name, accepted=tuple(accepted), path=tuple(path)))

    def subtask(
        self,
        subtask_id: str,
        question: str,
        fields: Sequence[str],
        kind: QuestionKind,
        lexical: bool,
        needs: Sequence[str],
        right: Reply,
        wrong: Sequence[Reply],
        slot: Slot | None = None,
        slot_value: str | None = None,
    ) -> None:
        self._subtasks.append(Subtask(subtask_id=subtask_id, question=question, fields=tuple(fields), slot=slot))
        replies = [(right, True), *((reply, False) for reply in wrong)]
        self._subtask_truths.append(
            SubtaskTruth(
                subtask_id=subtask_id,
                kind=kind,
                lexical=lexical,
                needs=tuple(needs),
                slot_value=slot_value,
                candidates=tuple(
                    Candidate(
                        candidate_id=f"{subtask_id}-c{number}",
                        values=reply.values,
                        text=reply.text,
                        right=is_right,
                        decoy_ids=reply.decoys,
                    )
                    for number, (reply, is_right) in enumerate(replies)
                ),
            )
        )

    def cached(
        self,
        entry_id: str,
        subtask_id: str,
        question: str,
        values: dict[str, str],
        text: str,
        version: str,
        age_hours: int,
        cites: Sequence[Quote],
        validity: CacheValidity,
    ) -> None:
        """`cites` are quotes too: an earlier result points at the first segment that shows each."""
        places = [self._places(entry_id, (quote,))[0].segment_id for quote in cites]
        self._entries.append(
            CacheEntry(
                entry_id=entry_id,
                subtask_id=subtask_id,
                question=question,
                text=text,
                values=values,
                version=version,
                age_hours=age_hours,
                cites=tuple(dict.fromkeys(places)),
            )
        )
        self._validity[entry_id] = validity

    def verdict(self, patch: str, passed: bool) -> None:
        """What running the hidden tests on this candidate patch said."""
        self._verdicts[patch] = passed

    def phase(self, phase_id: str, brief: str, artifacts: Sequence[str], subtasks: Sequence[str], steps: int) -> None:
        self._phases.append(
            Phase(
                phase_id=phase_id,
                brief=brief,
                artifact_ids=tuple(artifacts),
                subtask_ids=tuple(subtasks),
                steps=steps,
            )
        )

    def build(self) -> Scenario:
        segments = [segment.text for artifact in self._artifacts for segment in artifact.segments]
        public = PublicScenario(
            scenario_id=self.scenario_id,
            family=self.family,
            difficulty=self.difficulty,
            title=self.title,
            brief=self.brief,
            version=self.version,
            answer_fields=tuple(self._fields),
            subtasks=tuple(self._subtasks),
            artifacts=tuple(self._artifacts),
            cache_entries=tuple(self._entries),
            menus={name: catalog.draw_menu(name, self.scenario_id) for name in catalog.CATALOGS},
            segment_tokens={
                vocabulary: tuple(tokens.count(vocabulary, text) for text in segments)
                for vocabulary in tokens.VOCABULARIES
            },
            phases=tuple(self._phases),
        )
        hidden = HiddenScenario(
            facts=tuple(self._facts),
            decoys=tuple(self._decoys),
            subtasks=tuple(self._subtask_truths),
            fields=tuple(self._field_truths),
            cache=self._validity,
            verdicts=self._verdicts,
        )
        return Scenario(public=public, hidden=hidden)

    def _places(self, what: str, quotes: Sequence[Quote]) -> tuple[Place, ...]:
        places = []
        for quote in quotes:
            artifact = next((a for a in self._artifacts if a.artifact_id == quote.artifact_id), None)
            if artifact is None:
                raise ScenarioInvalid(f"{what}: no artifact {quote.artifact_id!r} yet; add it before quoting it")
            found = [
                Place(segment_id=segment.segment_id, text=quote.text)
                for segment in artifact.segments
                if quote.text in segment.text
            ]
            if not found:
                whole = "".join(segment.text for segment in artifact.segments)
                cause = "is cut in two by a segment boundary; quote less" if quote.text in whole else "is not in it"
                raise ScenarioInvalid(f"{what}: quote {quote.text!r} of {quote.artifact_id!r} {cause}")
            places.extend(found)
        if not places:
            raise ScenarioInvalid(f"{what}: quotes nothing; give at least one quote")
        return tuple(places)
