"""Judges an action against what the agent may do now. A bad action is data: this never raises."""

from __future__ import annotations

from typing import assert_never

from TokenOptEnv.action_rules import answering, keeping, reading, routing
from TokenOptEnv.action_rules.refusals import refuse
from TokenOptEnv.action_rules.room import budget_refusal
from TokenOptEnv.config import Profile
from TokenOptEnv.episode_state import Charge, EpisodeState
from TokenOptEnv.ledger import add_charges
from TokenOptEnv.models import V1_ACTIONS, ActionType, Refusal, RefusalReason, TokenOptEnvAction
from TokenOptEnv.moves import Move, Refused, Route, Submit
from TokenOptEnv.world import VisibleWorld

__all__ = ["judge"]


def judge(state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld, decision: Charge) -> Move:
    """`decision` is what the policy's own prompt and action cost; a submit may overrun, nothing else may."""
    verdict = _meaning(state, action, visible, state.clock_ms + decision.latency_ms)
    if isinstance(verdict, Refusal):
        return Refused(verdict)
    if isinstance(verdict, Submit):
        return verdict
    needed = add_charges(decision, routing.worst_charge(verdict)) if isinstance(verdict, Route) else decision
    refusal = budget_refusal(needed, state.left)
    return verdict if refusal is None else Refused(refusal)


def _meaning(state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld, asked_at_ms: int) -> Move | Refusal:
    kind = action.action_type
    if kind is ActionType.MALFORMED:
        return refuse(RefusalReason.MALFORMED, "raw_text", action.raw_text or "", "reply with a verb and numbers")
    if visible.config.profile is Profile.V1 and kind not in V1_ACTIONS:
        return refuse(RefusalReason.NOT_IN_PROFILE, "action_type", kind.value, "not in profile v1")
    if action.reasoning_tokens < 0:
        return refuse(RefusalReason.OUT_OF_RANGE, "reasoning_tokens", action.reasoning_tokens, "0 or more")
    match kind:
        case ActionType.READ_ARTIFACT:
            return reading.read(state, action, visible)
        case ActionType.SEARCH_ARTIFACTS:
            return reading.search(state, action, visible)
        case ActionType.QUERY_CACHE:
            return reading.query_cache(state, action, visible)
        case ActionType.HYDRATE_SEGMENTS:
            return reading.hydrate(state, action, visible)
        case ActionType.PURGE_MEMORY:
            return keeping.purge(state, action)
        case ActionType.COMPRESS_CONTEXT:
            return keeping.compress(state, action, visible)
        case ActionType.WRITE_CHECKPOINT:
            return keeping.write_checkpoint(state, action)
        case ActionType.RESTORE_CHECKPOINT:
            return keeping.restore_checkpoint(state, action, visible)
        case ActionType.ROUTE_SUBTASK:
            return routing.route(state, action, visible, asked_at_ms)
        case ActionType.ESCALATE_ROUTE:
            return routing.escalate(state, action, visible, asked_at_ms)
        case ActionType.SUBMIT_ANSWER:
            return answering.submit(state, action, visible)
        case _ as never:
            assert_never(never)
