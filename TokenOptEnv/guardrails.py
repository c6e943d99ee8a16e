"""Guardrails: failure modes with names. These follow from what was shown and count at their step.

Those that depend on hidden truth (blind compression, needless escalation, stale-cache trust) settle at
the end: see `grading`. What each costs stands in the reward table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, TypeAlias

from TokenOptEnv import ledger
from TokenOptEnv.config import Track
from TokenOptEnv.episode_state import EpisodeState, Submission, evolve
from TokenOptEnv.models import GuardrailEvent
from TokenOptEnv.models.base import trusted
from TokenOptEnv.moves import Hydrate, Move, Preview, QueryCache, ReadWhole, Refused, Search, Submit, WriteCheckpoint
from TokenOptEnv.world import VisibleWorld

_FREE_CHECKPOINTS_PER_PHASE = 3
_HOARDING_SHARE = 0.9
_HOARDING_STEPS = 4


class Guardrail(StrEnum):
    REPEATED_READ = "repeated_read"
    THRASH = "hydrate_purge_thrash"
    HOARDING = "hoarding"
    CHECKPOINT_SPAM = "checkpoint_spam"
    INVALID_ACTION = "invalid_action"
    UNGROUNDED_SUBMIT = "ungrounded_submit"
    BUDGET_OVERRUN = "budget_overrun"
    BLIND_COMPRESSION = "blind_compression"
    NEEDLESS_ESCALATION = "needless_escalation"
    STALE_CACHE_TRUST = "stale_cache_trust"


def evaluate(before: EpisodeState, move: Move, after: EpisodeState, visible: VisibleWorld) -> EpisodeState:
    """Add the events of this step."""
    full_steps = after.full_memory_steps + 1 if _memory_nearly_full(after, visible) else 0
    if full_steps != after.full_memory_steps:
        after = evolve(after, full_memory_steps=full_steps)
    faults = _FAULTS.get(type(move))
    events = [] if faults is None else faults(before, move, after, visible)
    if full_steps == _HOARDING_STEPS:
        events.append((Guardrail.HOARDING, f"memory nearly full for {_HOARDING_STEPS} steps"))
    if isinstance(move, Submit) and ledger.overrun(after, visible):
        events.append((Guardrail.BUDGET_OVERRUN, "the submission overran a budget"))
    return with_events(after, events) if events else after


_Events: TypeAlias = list[tuple[Guardrail, str]]


def _invalid(before: EpisodeState, move: Refused, after: EpisodeState, visible: VisibleWorld) -> _Events:
    return [(Guardrail.INVALID_ACTION, move.refusal.reason.value)]


def _repeated(before: EpisodeState, move: Move, after: EpisodeState, visible: VisibleWorld) -> _Events:
    asked = before.seen_requests
    again = [name for name, times in after.seen_requests.items() if times > 1 and times > asked.get(name, 0)]
    return [(Guardrail.REPEATED_READ, f"asked before: {name[:60]}") for name in again]


def _thrashing(before: EpisodeState, move: Hydrate, after: EpisodeState, visible: VisibleWorld) -> _Events:
    purged = [view.segment_id for view in move.segments if view.segment_id in before.purged_ids]
    return [(Guardrail.THRASH, f"loaded again after a purge: {name}") for name in purged[:1]]


def _spam(before: EpisodeState, move: WriteCheckpoint, after: EpisodeState, visible: VisibleWorld) -> _Events:
    written = sum([saved.record.phase == after.phase for saved in after.checkpoints])
    spam = written > _FREE_CHECKPOINTS_PER_PHASE
    return [(Guardrail.CHECKPOINT_SPAM, f"{written} checkpoints in this phase")] if spam else []


def _groundless(before: EpisodeState, move: Submit, after: EpisodeState, visible: VisibleWorld) -> _Events:
    assert after.submission is not None
    fault = _ungrounded(after, after.submission, visible)
    return [(Guardrail.UNGROUNDED_SUBMIT, fault)] if fault else []


_FAULTS: Final[Mapping[type[Move], Callable[[EpisodeState, Any, EpisodeState, VisibleWorld], _Events]]] = {
    Refused: _invalid,
    ReadWhole: _repeated,
    Preview: _repeated,
    Search: _repeated,
    QueryCache: _repeated,
    Hydrate: _thrashing,
    WriteCheckpoint: _spam,
    Submit: _groundless,
}
"""What can be wrong with the move itself."""


def with_events(state: EpisodeState, events: Sequence[tuple[Guardrail, str]]) -> EpisodeState:
    told = tuple(
        [
            trusted(GuardrailEvent, step=state.step, guardrail_id=guardrail.value, message=message)
            for guardrail, message in events
        ]
    )
    return evolve(state, guardrail_events=state.guardrail_events + told)


def backed(submission: Submission, name: str, track: Track) -> bool:
    """Does a finding stand behind this field? In the solver track the agent may speak for itself."""
    value = submission.answer.get(name)
    if value is None:
        return False
    return track is Track.SOLVER or value in [finding.values.get(name) for finding in submission.findings]


def read_evidence(state: EpisodeState, submission: Submission) -> frozenset[str]:
    """Cited segments that were really read here: by the agent, or by the worker whose finding cites them."""
    by_workers = {cite for finding in submission.findings if finding.source == "route" for cite in finding.cites}
    return frozenset([cite for cite in submission.evidence_ids if cite in state.read_ids or cite in by_workers])


def _ungrounded(state: EpisodeState, submission: Submission, visible: VisibleWorld) -> str | None:
    for field in visible.public.answer_fields:
        if field.name in submission.answer and not backed(submission, field.name, visible.config.track):
            return f"no finding behind {field.name}"
    if not read_evidence(state, submission):
        return "no evidence that was read here"
    return None


def _memory_nearly_full(state: EpisodeState, visible: VisibleWorld) -> bool:
    bound = visible.limits.memory_tokens
    return bound is not None and state.memory_tokens >= _HOARDING_SHARE * bound
