"""Builds what the agent is shown, from the visible world and the state. It cannot be handed anything hidden."""

from __future__ import annotations

from functools import lru_cache
from itertools import compress, filterfalse
from operator import attrgetter
from typing import Final

from TokenOptEnv import ledger, milestone_engine
from TokenOptEnv.config import ROUTE_MAX_HANDLES, Profile
from TokenOptEnv.episode_state import EpisodeState
from TokenOptEnv.memory_manager import COMPRESSIBLE
from TokenOptEnv.models import (
    V1_ACTIONS,
    V2_ACTIONS,
    ActionType,
    CacheTelemetry,
    Effort,
    EndReason,
    ItemKind,
    LedgerEntry,
    LegalAction,
    LegalActions,
    LegalField,
    Milestones,
    Revealed,
    RewardBreakdown,
    ScoreBreakdown,
    TokenOptEnvObservation,
    ToolResult,
    WorkingMemory,
)
from TokenOptEnv.models.base import trusted
from TokenOptEnv.simulators.compression import methods
from TokenOptEnv.world import VisibleWorld


def build(
    visible: VisibleWorld,
    state: EpisodeState,
    seed: int,
    last: ToolResult | None,
    rewards: RewardBreakdown,
    score: ScoreBreakdown | None = None,
    revealed: Revealed | None = None,
) -> TokenOptEnvObservation:
    phase = visible.phases[state.phase]
    submitted = state.end is EndReason.SUBMITTED
    achieved_ids = state.milestone_ids if score is None else state.milestone_ids + score.truth_milestone_ids
    return trusted(
        TokenOptEnvObservation,
        done=state.end is not None,
        reward=rewards.step if last is not None else None,
        metadata={},
        episode_id=state.episode_id,
        seed=seed,
        step=state.step,
        stamp=visible.episode_stamp,
        task=phase.task,
        artifacts=phase.handles,
        models=visible.menu,
        surfaced=tuple(state.surfaced.values()),
        working_memory=trusted(
            WorkingMemory,
            items=state.memory,
            token_budget=visible.limits.memory_tokens,
            token_budget_used=state.memory_tokens,
        ),
        last_tool_result=last,
        findings=state.held_findings,
        checkpoints=tuple([saved.record for saved in state.checkpoints]),
        budgets=ledger.budgets(state, visible),
        ledger=_entries_of_step(state),
        cache=_cache_telemetry(state.cache_queries, state.cache_hits),
        compression=state.compression,
        routing=state.routing,
        milestones=_milestones(milestone_engine.listed_ids(visible), achieved_ids),
        guardrail_events=state.guardrail_events,
        legal_actions=_legal_actions(visible, state),
        must_submit=state.must_submit,
        reward_breakdown=rewards,
        terminated=submitted,
        truncated=state.end is not None and not submitted,
        end_reason=state.end,
        score=score,
        revealed=revealed,
    )


def _entries_of_step(state: EpisodeState) -> tuple[LedgerEntry, ...]:
    """At most two, at the end: the decision's, and that of the model it asked."""
    entries = state.entries[-2:]
    return entries if not entries or entries[0].step == state.step else entries[1:]


@lru_cache(maxsize=1_024)
def _milestones(listed_ids: tuple[str, ...], achieved_ids: tuple[str, ...]) -> Milestones:
    return Milestones(listed_ids=listed_ids, achieved_ids=achieved_ids)


@lru_cache(maxsize=1_024)
def _cache_telemetry(queries: int, hits: int) -> CacheTelemetry:
    return CacheTelemetry(queries=queries, hits=hits)


def _field(name: str, *choices_from: str, required: bool = True, max_items: int | None = None) -> LegalField:
    return LegalField(name=name, required=required, choices_from=choices_from, max_items=max_items)


def _forms(profile: Profile) -> dict[ActionType, LegalAction]:
    fields_of = {
        ActionType.READ_ARTIFACT: (_field("artifact_id", "artifacts"), _field("page", required=False)),
        ActionType.QUERY_CACHE: (_field("query"),),
        ActionType.COMPRESS_CONTEXT: (
            _field("context_segment_ids", "compressible"),
            _field("method", "methods"),
            _field("target_ratio", required=False),
            _field("query", required=False),
        ),
        ActionType.ROUTE_SUBTASK: (
            _field("subtask_id", "subtasks"),
            _field("model_id", "models"),
            _field("context_segment_ids", "items", required=False),
            _field("context_segment_ids", "surfaced", required=False, max_items=ROUTE_MAX_HANDLES[profile]),
            _field("effort", "efforts", required=False),
        ),
        ActionType.SUBMIT_ANSWER: (
            _field("finding_ids", "findings", required=False),
            _field("answer", "answer_fields", required=False),
            _field("evidence_segment_ids", "surfaced", "items", required=False),
        ),
        ActionType.SEARCH_ARTIFACTS: (_field("query"), _field("top_k", required=False)),
        ActionType.HYDRATE_SEGMENTS: (_field("context_segment_ids", "surfaced"),),
        ActionType.PURGE_MEMORY: (_field("context_segment_ids", "items"),),
        ActionType.WRITE_CHECKPOINT: (
            _field("note", required=False),
            _field("finding_ids", "findings", required=False),
            _field("context_segment_ids", "items", required=False),
        ),
        ActionType.RESTORE_CHECKPOINT: (_field("checkpoint_id", "checkpoints"),),
        ActionType.ESCALATE_ROUTE: (
            _field("route_id", "routes"),
            _field("model_id", "models", required=False),
            _field("effort", "efforts", required=False),
        ),
    }
    offered = V1_ACTIONS if profile is Profile.V1 else V2_ACTIONS
    return {kind: LegalAction(action_type=kind, fields=fields_of[kind]) for kind in offered}


FORMS: Final = {profile: _forms(profile) for profile in Profile}
"""What each action takes, wherever in an episode."""
_MAY_BE_EMPTY: Final = ("artifacts", "subtasks", "surfaced", "items", "compressible", "routes", "checkpoints")
_item_id = attrgetter("item_id")
_kind = attrgetter("kind")
_finding_id = attrgetter("finding_id")
_NOTHING_LEGAL: Final = LegalActions(actions=(), choices={})


def _escalatable(state: EpisodeState, visible: VisibleWorld) -> tuple[str, ...]:
    """Routes of this phase that a stronger model could be asked about."""
    strongest_id = visible.by_strength[-1].model_id
    return tuple(
        [
            route.route_id
            for route in state.routes
            if route.model_id != strongest_id and route.route_id in state.route_contexts
        ]
    )


def _restorable(state: EpisodeState, kinds: list[ItemKind]) -> tuple[str, ...]:
    """What is back in memory already cannot be brought back again."""
    checkpoint = ItemKind.CHECKPOINT
    if checkpoint not in kinds:
        return tuple([saved.record.checkpoint_id for saved in state.checkpoints])
    back = [item.text for item in state.memory if item.kind is checkpoint]
    return tuple([saved.record.checkpoint_id for saved in state.checkpoints if saved.text not in back])


@lru_cache(maxsize=256)
def _possible(profile: Profile, missing: tuple[str, ...]) -> tuple[LegalAction, ...]:
    """The actions for which there is something to choose in every field that must be chosen."""
    return tuple(
        form
        for form in FORMS[profile].values()
        if not any(field.required and field.choices_from and field.choices_from[0] in missing for field in form.fields)
    )


@lru_cache(maxsize=1_024)
def _fixed_choices(visible: VisibleWorld, phase: int) -> dict[str, tuple[str, ...]]:
    """The lists that do not change within a phase."""
    view = visible.phases[phase]
    return {
        "artifacts": tuple(view.artifacts),
        "subtasks": tuple(view.subtasks),
        "models": tuple(visible.cards),
        "efforts": tuple(effort.value for effort in Effort),
        "methods": tuple(methods()),
        "answer_fields": tuple(field.name for field in visible.public.answer_fields),
    }


def _legal_actions(visible: VisibleWorld, state: EpisodeState) -> LegalActions:
    if state.end is not None:
        return _NOTHING_LEGAL
    phase, profile = visible.phases[state.phase], visible.config.profile
    items, kinds = tuple(map(_item_id, state.memory)), list(map(_kind, state.memory))
    held = set(items)
    choices = {
        **_fixed_choices(visible, state.phase),
        "surfaced": tuple(filterfalse(held.__contains__, state.surfaced)),
        "items": items,
        "compressible": tuple(compress(items, map(COMPRESSIBLE.__contains__, kinds))),
        "findings": tuple(map(_finding_id, state.held_findings)),
        "routes": _escalatable(state, visible) if state.routes else (),
        "checkpoints": _restorable(state, kinds) if state.checkpoints else (),
    }
    if not held.isdisjoint(phase.small_segment_ids):
        whole = {name for name, segment_ids in phase.small_artifacts.items() if held.issuperset(segment_ids)}
        choices["artifacts"] = tuple([name for name in phase.artifacts if name not in whole])
    if phase.slots:
        filled = {name for finding in state.held_findings for name in finding.values}
        empty = {subtask_id for subtask_id, name in phase.slots.items() if name not in filled}
        if empty:
            choices["subtasks"] = tuple([name for name in phase.subtasks if name not in empty])
    if state.must_submit:
        return trusted(LegalActions, actions=(FORMS[profile][ActionType.SUBMIT_ANSWER],), choices=choices)
    missing = tuple(filterfalse(choices.__getitem__, _MAY_BE_EMPTY))
    return trusted(LegalActions, actions=_possible(profile, missing), choices=choices)
