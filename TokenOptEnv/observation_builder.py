"""Builds what the agent is shown, from the visible world and the state. It cannot be handed anything hidden."""

from __future__ import annotations

from typing import Final

from TokenOptEnv import milestone_engine
from TokenOptEnv.config import ROUTE_MAX_HANDLES, Profile
from TokenOptEnv.controller import Screen
from TokenOptEnv.episode_state import EpisodeState
from TokenOptEnv.models import (
    V1_ACTIONS,
    V2_ACTIONS,
    ActionType,
    CacheTelemetry,
    CompressionTelemetry,
    Effort,
    EndReason,
    LegalAction,
    LegalActions,
    LegalField,
    Milestones,
    Revealed,
    RewardBreakdown,
    RoutingTelemetry,
    ScoreBreakdown,
    TokenOptEnvObservation,
    ToolResult,
)
from TokenOptEnv.simulators.compression import methods
from TokenOptEnv.world import VisibleWorld


def build(
    visible: VisibleWorld,
    state: EpisodeState,
    seed: int,
    shown: Screen,
    last: ToolResult | None,
    rewards: RewardBreakdown,
    score: ScoreBreakdown | None = None,
    revealed: Revealed | None = None,
) -> TokenOptEnvObservation:
    phase = visible.phases[state.phase]
    milestones = Milestones(
        listed_ids=milestone_engine.listed_ids(visible),
        achieved_ids=state.milestone_ids + (score.truth_milestone_ids if score is not None else ()),
    )
    first_entry = len(state.entries)
    while first_entry > 0 and state.entries[first_entry - 1].step == state.step:
        first_entry -= 1
    return TokenOptEnvObservation(
        done=state.end is not None,
        reward=rewards.step if last is not None else None,
        episode_id=state.episode_id,
        seed=seed,
        step=state.step,
        stamp=visible.episode_stamp,
        task=phase.task,
        artifacts=phase.handles,
        models=visible.menu,
        surfaced=tuple(state.surfaced.values()),
        working_memory=shown.memory,
        last_tool_result=last,
        findings=state.held_findings,
        checkpoints=shown.checkpoints,
        budgets=shown.budgets,
        ledger=state.entries[first_entry:],
        cache=CacheTelemetry(queries=state.cache_queries, hits=state.cache_hits),
        compression=CompressionTelemetry(
            runs=len(state.compressions),
            tokens_before=sum(item.tokens for run in state.compressions for item in run.before),
            tokens_after=sum(run.after.tokens for run in state.compressions),
        ),
        routing=RoutingTelemetry(routes=state.routes, nano_usd=state.spent.routed_nano_usd),
        milestones=milestones,
        guardrail_events=state.guardrail_events,
        legal_actions=_legal_actions(visible, state),
        must_submit=state.must_submit,
        reward_breakdown=rewards,
        terminated=state.end is EndReason.SUBMITTED,
        truncated=state.end is not None and state.end is not EndReason.SUBMITTED,
        end_reason=state.end,
        score=score,
        revealed=revealed,
    )


def _field(name: str, *choices_from: str, required: bool = True, max_items: int | None = None) -> LegalField:
    return LegalField(name=name, required=required, choices_from=choices_from, max_items=max_items)


def _forms(profile: Profile) -> dict[ActionType, LegalAction]:
    fields_of = {
        ActionType.READ_ARTIFACT: (_field("artifact_id", "artifacts"), _field("page", required=False)),
        ActionType.QUERY_CACHE: (_field("query"),),
        ActionType.COMPRESS_CONTEXT: (
            _field("context_segment_ids", "items"),
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


_FORMS: Final = {profile: _forms(profile) for profile in Profile}
_MUST_CHOOSE: Final = {  # by action type: the lists that must not be empty
    kind: tuple(field.choices_from[0] for field in form.fields if field.required and field.choices_from)
    for kind, form in _FORMS[Profile.V2].items()
}
_EFFORTS: Final = tuple(effort.value for effort in Effort)


def _legal_actions(visible: VisibleWorld, state: EpisodeState) -> LegalActions:
    if state.end is not None:
        return LegalActions(actions=(), choices={})
    phase = visible.phases[state.phase]
    forms = _FORMS[visible.config.profile]
    items = tuple(item.item_id for item in state.memory)
    held = set(items)
    filled = {name for finding in state.held_findings for name in finding.values}
    choices = {
        "artifacts": tuple(phase.artifacts),
        "surfaced": tuple(segment_id for segment_id in state.surfaced if segment_id not in held),
        "items": items,
        "subtasks": tuple(
            subtask.subtask_id
            for subtask in phase.subtasks.values()
            if subtask.slot is None or subtask.slot.name in filled
        ),
        "models": tuple(visible.cards),
        "efforts": _EFFORTS,
        "methods": tuple(methods()),
        "findings": tuple(finding_id for item in state.memory for finding_id in item.finding_ids),
        "answer_fields": tuple(field.name for field in visible.public.answer_fields),
        "routes": tuple(state.route_contexts),
        "checkpoints": tuple(saved.record.checkpoint_id for saved in state.checkpoints),
    }
    if state.must_submit:
        actions: tuple[LegalAction, ...] = (forms[ActionType.SUBMIT_ANSWER],)
    else:
        actions = tuple(
            form for form in forms.values() if all(choices[name] for name in _MUST_CHOOSE[form.action_type])
        )
    return LegalActions.model_construct({"actions", "choices"}, actions=actions, choices=choices)
