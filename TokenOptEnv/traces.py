"""The versioned record of an episode: the contract between rooms.

Built from actions and observations alone, so a client on the far side of a socket writes the same bytes
as the process that plays. Texts are not repeated in it: an episode replays from its actions.
"""

from __future__ import annotations

from hashlib import sha256

from TokenOptEnv.config import Profile, Track
from TokenOptEnv.models import (
    EndReason,
    EpisodeStamp,
    GuardrailEvent,
    LedgerEntry,
    RefusalReason,
    ScoreBreakdown,
    TokenOptEnvAction,
    TokenOptEnvObservation,
)
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.version import TRACE_VERSION


class TraceHeader(Frozen):
    trace_version: int
    scenario_id: str
    seed: int
    profile: Profile
    track: Track
    stamp: EpisodeStamp
    observation_sha256: str


class HeldItem(Frozen):
    item_id: str
    tokens: int


class TraceStep(Frozen):
    step: int
    action: TokenOptEnvAction
    refusal: RefusalReason | None
    entries: tuple[LedgerEntry, ...]
    memory: tuple[HeldItem, ...]
    milestone_ids: tuple[str, ...]
    guardrail_events: tuple[GuardrailEvent, ...]
    reward: float
    end_reason: EndReason | None
    score: ScoreBreakdown | None
    observation_sha256: str


class Trace:
    """Grows with the episode; `to_jsonl` is its canonical text."""

    def __init__(self, first: TokenOptEnvObservation) -> None:
        self.header = TraceHeader(
            trace_version=TRACE_VERSION,
            scenario_id=first.task.scenario_id,
            seed=first.seed,
            profile=first.task.profile,
            track=first.task.track,
            stamp=first.stamp,
            observation_sha256=_digest(first),
        )
        self.steps: list[TraceStep] = []

    def add(self, action: TokenOptEnvAction, seen: TokenOptEnvObservation) -> None:
        result = seen.last_tool_result
        refusal = result.refusal if result is not None else None
        self.steps.append(
            TraceStep(
                step=seen.step,
                action=action.model_copy(update={"metadata": {}}) if action.metadata else action,
                refusal=refusal.reason if refusal is not None else None,
                entries=seen.ledger,
                memory=tuple(HeldItem(item_id=item.item_id, tokens=item.tokens) for item in seen.working_memory.items),
                milestone_ids=seen.milestones.achieved_ids,
                guardrail_events=tuple(event for event in seen.guardrail_events if event.step == seen.step),
                reward=seen.reward or 0.0,
                end_reason=seen.end_reason,
                score=seen.score,
                observation_sha256=_digest(seen),
            )
        )

    def to_jsonl(self) -> str:
        lines = [self.header.model_dump_json()]
        lines += [step.model_dump_json(exclude_defaults=True) for step in self.steps]
        return "\n".join(lines) + "\n"


def _digest(observation: TokenOptEnvObservation) -> str:
    """Of what was shown; `metadata` and the caller's own episode name are not part of it."""
    shown = observation.model_dump_json(exclude={"metadata", "episode_id"})
    return sha256(shown.encode()).hexdigest()[:16]
