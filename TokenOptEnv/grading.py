"""The end of an episode against the hidden truth: what was right, grounded, precise; what was wasted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from TokenOptEnv.config import Track
from TokenOptEnv.episode_state import EpisodeState, Submission
from TokenOptEnv.guardrails import Guardrail, backed, read_evidence
from TokenOptEnv.models import FieldKind, FieldScore, Finding
from TokenOptEnv.models.base import trusted
from TokenOptEnv.scenario import CacheValidity, FieldTruth, HiddenScenario, Scenario
from TokenOptEnv.world import PatchJudge

TRUTH_MILESTONES = ("no-decoy-cited", "stopped-when-right", "no-fact-lost")


@dataclass(frozen=True, slots=True)
class Grade:
    fields: tuple[FieldScore, ...]
    evidence_precision: float
    truth_milestone_ids: tuple[str, ...]
    truth_events: tuple[tuple[Guardrail, str], ...]

    @property
    def success(self) -> bool:
        return all(score.right and score.backed and score.grounded for score in self.fields)

    @property
    def share(self) -> float:
        return sum(score.right and score.backed and score.grounded for score in self.fields) / len(self.fields)


@dataclass(frozen=True, slots=True)
class _Field:
    """One field of the answer, and what makes it right and grounded."""

    name: str
    right_texts: frozenset[str]
    """Normalised; of a patch, those that passed the hidden tests, as they are."""
    is_patch: bool
    path: tuple[frozenset[str], ...]
    """For each fact that must be covered: the segments that show it."""

    def is_right(self, value: str | None) -> bool:
        return value is not None and (value if self.is_patch else _normal(value)) in self.right_texts

    def is_grounded(self, evidence: frozenset[str]) -> bool:
        return not any(segment_ids.isdisjoint(evidence) for segment_ids in self.path)


@dataclass(frozen=True, slots=True)
class _Key:
    """The hidden half, laid out for judging; made once a scenario, since every episode of it ends here."""

    fields: tuple[_Field, ...]
    fact_texts: tuple[tuple[str, ...], ...]
    fact_segment_ids: frozenset[str]
    decoy_segment_ids: frozenset[str]
    """Those that show a decoy and no fact."""
    right_values: dict[str, tuple[dict[str, str], ...]]
    """By subtask."""
    valid_entry_ids: frozenset[str]


@lru_cache(maxsize=512)
def _key(scenario: Scenario) -> _Key:
    hidden = scenario.hidden
    kinds = {field.name: field.kind for field in scenario.public.answer_fields}
    shown = frozenset(place.segment_id for fact in hidden.facts for place in fact.places)
    misleading = frozenset(place.segment_id for decoy in hidden.decoys for place in decoy.places)
    return _Key(
        fields=tuple(_field(truth, kinds[truth.name], hidden) for truth in hidden.fields),
        fact_texts=tuple(tuple(dict.fromkeys(place.text for place in fact.places)) for fact in hidden.facts),
        fact_segment_ids=shown,
        decoy_segment_ids=misleading - shown,
        right_values={
            truth.subtask_id: tuple(candidate.values for candidate in truth.candidates if candidate.right)
            for truth in hidden.subtasks
        },
        valid_entry_ids=frozenset(name for name, state in hidden.cache.items() if state is CacheValidity.VALID),
    )


def _field(truth: FieldTruth, kind: FieldKind, hidden: HiddenScenario) -> _Field:
    facts = {fact.fact_id: fact for fact in hidden.facts}
    if kind is FieldKind.PATCH:
        texts = frozenset(patch for patch, passed in hidden.verdicts.items() if passed)
    else:
        texts = frozenset(_normal(text) for text in truth.accepted)
    path = tuple(frozenset(place.segment_id for place in facts[fact_id].places) for fact_id in truth.path)
    return _Field(truth.name, texts, kind is FieldKind.PATCH, path)


def grade(state: EpisodeState, scenario: Scenario, track: Track, patch_judge: PatchJudge | None = None) -> Grade:
    key = _key(scenario)
    events = _truth_events(state, key)
    submission = state.submission
    if submission is None:
        missed = [FieldScore(name=field.name, right=False, backed=False, grounded=False) for field in key.fields]
        return Grade(tuple(missed), 0.0, (), events)
    evidence = read_evidence(state, submission)
    fields = [
        trusted(
            FieldScore,
            name=field.name,
            right=_is_right(field, submission.answer.get(field.name), scenario, patch_judge),
            backed=backed(submission, field.name, track),
            grounded=field.is_grounded(evidence),
        )
        for field in key.fields
    ]
    blind = Guardrail.BLIND_COMPRESSION in [guardrail for guardrail, _ in events]
    cites_decoy = not key.decoy_segment_ids.isdisjoint(submission.evidence_ids)
    checks = (not cites_decoy, not _asked_on(state, key), not blind)
    reached = tuple([name for name, met in zip(TRUTH_MILESTONES, checks, strict=True) if met])
    return Grade(tuple(fields), _precision(submission, key), reached, events)


def _is_right(field: _Field, value: str | None, scenario: Scenario, patch_judge: PatchJudge | None) -> bool:
    """A patch whose verdict is not known yet is run, where there is somebody to run it."""
    if patch_judge is None or not field.is_patch or value is None or value in scenario.hidden.verdicts:
        return field.is_right(value)
    return patch_judge.passes(scenario, value)


def accepts(scenario: Scenario, field_name: str, value: str) -> bool:
    """Would this value of a field be graded right?"""
    return any(field.name == field_name and field.is_right(value) for field in _key(scenario).fields)


def same_text(left: str, right: str) -> bool:
    return _normal(left) == _normal(right)


def _normal(text: str) -> str:
    return " ".join(text.split()).casefold()


def _precision(submission: Submission, key: _Key) -> float:
    """The share of the cited evidence that shows a fact: citing everything proves nothing."""
    if not submission.evidence_ids:
        return 0.0
    useful = [cite for cite in submission.evidence_ids if cite in key.fact_segment_ids]
    return round(len(useful) / len(submission.evidence_ids), 6)


def _finding_is_right(finding: Finding | None, key: _Key) -> bool:
    return finding is not None and finding.values in key.right_values[finding.subtask_id]


def _asked_on(state: EpisodeState, key: _Key) -> bool:
    """Was a question asked again after it had been answered rightly?"""
    answered: set[str] = set()
    for route in state.routes:
        if route.subtask_id in answered:
            return True
        if route.finding_id is not None and _finding_is_right(state.findings.get(route.finding_id), key):
            answered.add(route.subtask_id)
    return False


def _truth_events(state: EpisodeState, key: _Key) -> tuple[tuple[Guardrail, str], ...]:
    events: list[tuple[Guardrail, str]] = []
    for run in state.compressions:
        lost = _lost(key.fact_texts, tuple([item.text for item in run.before]), run.after.text)
        if lost:
            events.append((Guardrail.BLIND_COMPRESSION, f"{run.after.item_id} lost {lost} needed line(s)"))
    by_route = {route.route_id: route for route in state.routes}
    for route in state.routes:
        if route.escalated_from is not None:
            weaker = by_route[route.escalated_from]
            if _finding_is_right(state.findings.get(weaker.finding_id or ""), key):
                events.append((Guardrail.NEEDLESS_ESCALATION, f"{weaker.route_id} was right"))
    if state.submission is not None:
        for finding in state.submission.findings:
            if finding.entry_id is not None and finding.entry_id not in key.valid_entry_ids:
                events.append((Guardrail.STALE_CACHE_TRUST, f"{finding.finding_id} rests on an outdated result"))
    return tuple(events)


@lru_cache(maxsize=1_024)
def _lost(facts: tuple[tuple[str, ...], ...], before: tuple[str, ...], after: str) -> int:
    """How many facts stood in these texts and stand no longer. Kept, because episodes of one case squeeze alike."""
    whole = "".join(before)
    held = [texts for texts in facts if _any_in(texts, whole)]
    return len([texts for texts in held if not _any_in(texts, after)])


def _any_in(spans: tuple[str, ...], text: str) -> bool:
    return any(span in text for span in spans)
