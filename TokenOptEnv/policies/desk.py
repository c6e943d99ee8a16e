"""Room in working memory: what is left of it, and what can go when it is short."""

from __future__ import annotations

from TokenOptEnv.models import ActionType, ItemKind, MemoryItem, TokenOptEnvAction, TokenOptEnvObservation

_LISTINGS = (ItemKind.SEARCH, ItemKind.PREVIEW)


def room_tokens(observation: TokenOptEnvObservation) -> int:
    """What still fits; where memory is unbounded, more than anything takes."""
    memory = observation.working_memory
    if memory.token_budget is None:
        return observation.budgets.tokens.limit
    return memory.token_budget - memory.token_budget_used


def clear(observation: TokenOptEnvObservation) -> TokenOptEnvAction | None:
    """Drop every listing: the segments it named stay askable. Then evidence; what was found and noted stays."""
    items = observation.working_memory.items
    idle = [item for item in items if item.kind in _LISTINGS] or [item for item in items if not _keeps_findings(item)]
    if not idle or not _can_purge(observation):
        return None
    return TokenOptEnvAction(
        action_type=ActionType.PURGE_MEMORY, context_segment_ids=tuple(item.item_id for item in idle)
    )


def _keeps_findings(item: MemoryItem) -> bool:
    return bool(item.finding_ids) or item.kind is ItemKind.CHECKPOINT


def _can_purge(observation: TokenOptEnvObservation) -> bool:
    return any(legal.action_type is ActionType.PURGE_MEMORY for legal in observation.legal_actions.actions)
