"""The end of an episode against the hidden truth: what was right, grounded, precise; what was wasted."""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.episode_state import EpisodeState, Submission
from TokenOptEnv.guardrails import Guardrail, backed, read_evidence
from TokenOptEnv.models import FieldKind, FieldScore, Finding
from TokenOptEnv.scenario import CacheValidity, Fact, HiddenScenario
from TokenOptEnv.world import VisibleWorld

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


def grade(state: EpisodeState, hidden: HiddenScenario, visible: VisibleWorld) -> Grade:
    events = _truth_events(state, hidden)
    submission = state.submission
    if submission is None:
        fields = tuple(
            FieldScore(name=truth.name, right=False, backed=False, grounded=False) for truth in hidden.fields
        )
        return Grade(fields, 0.0, (), events)
    facts = {fact.fact_id: fact for fact in hidden.facts}
    evidence = read_evidence(state, submission)
    kinds = {field.name: field.kind for field in visible.public.answer_fields}
    fields = tuple(
        FieldScore(
            name=truth.name,
            right=_right(submission.answer.get(truth.name), truth.accepted, kinds[truth.name], hidden),
            backed=backed(submission, truth.name, visible.config.track),
            grounded=all(_shown(facts[fact_id], evidence) for fact_id in truth.path),
        )
        for truth in hidden.fields
    )
    blind = any(guardrail is Guardrail.BLIND_COMPRESSION for guardrail, _ in events)
    checks = (not _cites_decoy(submission, hidden), not _asked_on(state, hidden), not blind)
    reached = tuple(name for name, met in zip(TRUTH_MILESTONES, checks, strict=True) if met)
    return Grade(fields, _precision(submission, hidden), reached, events)


def same_text(left: str, right: str) -> bool:
    return " ".join(left.split()).casefold() == " ".join(right.split()).casefold()


def _right(value: str | None, accepted: tuple[str, ...], kind: FieldKind, hidden: HiddenScenario) -> bool:
    if value is None:
        return False
    if kind is FieldKind.PATCH:
        return hidden.verdicts.get(value, False)
    return any(same_text(value, each) for each in accepted)


def _shown(fact: Fact, segment_ids: frozenset[str]) -> bool:
    return any(place.segment_id in segment_ids for place in fact.places)


def _fact_segments(hidden: HiddenScenario) -> set[str]:
    return {place.segment_id for fact in hidden.facts for place in fact.places}


def _precision(submission: Submission, hidden: HiddenScenario) -> float:
    """The share of the cited evidence that shows a fact: citing everything proves nothing."""
    if not submission.evidence_ids:
        return 0.0
    useful = _fact_segments(hidden)
    return round(sum(cite in useful for cite in submission.evidence_ids) / len(submission.evidence_ids), 6)


def _cites_decoy(submission: Submission, hidden: HiddenScenario) -> bool:
    misleading = {place.segment_id for decoy in hidden.decoys for place in decoy.places} - _fact_segments(hidden)
    return any(cite in misleading for cite in submission.evidence_ids)


def _finding_is_right(finding: Finding | None, hidden: HiddenScenario) -> bool:
    if finding is None:
        return False
    truth = next(truth for truth in hidden.subtasks if truth.subtask_id == finding.subtask_id)
    return any(candidate.right and candidate.values == finding.values for candidate in truth.candidates)


def _asked_on(state: EpisodeState, hidden: HiddenScenario) -> bool:
    """Was a question asked again after it had been answered rightly?"""
    answered: set[str] = set()
    for route in state.routes:
        if route.subtask_id in answered:
            return True
        if route.finding_id is not None and _finding_is_right(state.findings.get(route.finding_id), hidden):
            answered.add(route.subtask_id)
    return False


def _truth_events(state: EpisodeState, hidden: HiddenScenario) -> tuple[tuple[Guardrail, str], ...]:
    events: list[tuple[Guardrail, str]] = []
    for run in state.compressions:
        before = "".join(item.text for item in run.before)
        lost = [
            fact.fact_id
            for fact in hidden.facts
            if any(place.text in before for place in fact.places)
            and not any(place.text in run.after.text for place in fact.places)
        ]
        if lost:
            events.append((Guardrail.BLIND_COMPRESSION, f"{run.after.item_id} lost {len(lost)} needed line(s)"))
    by_route = {route.route_id: route for route in state.routes}
    for route in state.routes:
        if route.escalated_from is not None:
            weaker = by_route[route.escalated_from]
            if _finding_is_right(state.findings.get(weaker.finding_id or ""), hidden):
                events.append((Guardrail.NEEDLESS_ESCALATION, f"{weaker.route_id} was right"))
    if state.submission is not None:
        for finding in state.submission.findings:
            if finding.entry_id is not None and hidden.cache.get(finding.entry_id) is not CacheValidity.VALID:
                events.append((Guardrail.STALE_CACHE_TRUST, f"{finding.finding_id} rests on an outdated result"))
    return tuple(events)
