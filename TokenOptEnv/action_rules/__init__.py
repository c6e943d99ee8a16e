"""Judges an action against what the agent may do now. A bad action is data: this never raises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

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

_Rule: TypeAlias = Callable[[EpisodeState, TokenOptEnvAction, VisibleWorld], Move | Refusal]
_RULES: Final[Mapping[ActionType, _Rule]] = {
    ActionType.READ_ARTIFACT: reading.read,
    ActionType.SEARCH_ARTIFACTS: reading.search,
    ActionType.QUERY_CACHE: reading.query_cache,
    ActionType.HYDRATE_SEGMENTS: reading.hydrate,
    ActionType.PURGE_MEMORY: keeping.purge,
    ActionType.COMPRESS_CONTEXT: keeping.compress,
    ActionType.WRITE_CHECKPOINT: keeping.write_checkpoint,
    ActionType.RESTORE_CHECKPOINT: keeping.restore_checkpoint,
    ActionType.SUBMIT_ANSWER: answering.submit,
}
_ASKED_OF_MODELS: Final = {ActionType.ROUTE_SUBTASK: routing.route, ActionType.ESCALATE_ROUTE: routing.escalate}
"""Priced at once, so these must know when they are asked: a provider's cache holds a prompt only so long."""


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
    if kind in _ASKED_OF_MODELS:
        return _ASKED_OF_MODELS[kind](state, action, visible, asked_at_ms)
    return _RULES[kind](state, action, visible)
