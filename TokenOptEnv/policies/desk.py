"""Room in working memory: what is left of it, and what can go when it is short."""

from __future__ import annotations

from collections.abc import Sequence

from TokenOptEnv.models import ActionType, ItemKind, MemoryItem, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.policies.submission import latest_findings

_LISTINGS = (ItemKind.SEARCH, ItemKind.PREVIEW)
_REPLIES = (ItemKind.FINDING, ItemKind.CACHE)
_EVIDENCE = (ItemKind.SEGMENT, ItemKind.COMPRESSED)


def room_tokens(observation: TokenOptEnvObservation) -> int:
    """What still fits; where memory is unbounded, more than anything takes."""
    memory = observation.working_memory
    if memory.token_budget is None:
        return observation.budgets.tokens.limit
    return memory.token_budget - memory.token_budget_used


def clear_listings(observation: TokenOptEnvObservation) -> TokenOptEnvAction | None:
    """Drop what only lists segments: those it named stay askable."""
    return purge(observation, [item for item in observation.working_memory.items if item.kind in _LISTINGS])


def clear(observation: TokenOptEnvObservation) -> TokenOptEnvAction | None:
    """Drop listings or, where there are none, evidence. What was found and noted stays."""
    evidence = [item for item in observation.working_memory.items if not _keeps_findings(item)]
    return clear_listings(observation) or purge(observation, evidence)


def dispensable(observation: TokenOptEnvObservation) -> tuple[MemoryItem, ...]:
    """What can go, the least missed first: listings, replies that are empty or replaced, then evidence by age."""
    items = observation.working_memory.items
    current = {finding.finding_id for finding in latest_findings(observation)}
    listings = [item for item in items if item.kind in _LISTINGS]
    replaced = [item for item in items if item.kind in _REPLIES and current.isdisjoint(item.finding_ids)]
    evidence = [item for item in items if item.kind in _EVIDENCE]
    return (*listings, *replaced, *evidence)


def purge(observation: TokenOptEnvObservation, items: Sequence[MemoryItem]) -> TokenOptEnvAction | None:
    """Drop these, where anything may be dropped and there is anything to drop."""
    can_purge = any(legal.action_type is ActionType.PURGE_MEMORY for legal in observation.legal_actions.actions)
    if not items or not can_purge:
        return None
    return TokenOptEnvAction(
        action_type=ActionType.PURGE_MEMORY, context_segment_ids=tuple(item.item_id for item in items)
    )


def _keeps_findings(item: MemoryItem) -> bool:
    return bool(item.finding_ids) or item.kind is ItemKind.CHECKPOINT
