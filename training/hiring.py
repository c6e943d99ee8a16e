"""Whom a tutor asks, of those that may be asked: chosen by what a prompt tells of them, and left out if too dear.

A prompt has names, tiers and prices. How much a model thinks is known of those that training cases have and of no
others, so a student that was taught to go by it would guess.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from TokenOptEnv.config import REPLY_CAP_TOKENS
from TokenOptEnv.models import Effort, ModelCard, Subtask, Tier
from TokenOptEnv.policies import errands, menu, purse
from TokenOptEnv.policies.purse import Offer
from training.standing import Standing

_WEIGHT_PERMILLE = {Tier.MID: 1_000, Tier.FRONTIER: 350}
"""A frontier model may cost about three times as much."""
_BELOW_PICO_USD = ((Effort.HIGH, 1_500_000), (Effort.MEDIUM, 6_000_000), (Effort.LOW, sys.maxsize))
"""A token that it writes; all of these by playing training cases, and kept where validation agreed."""
_PROMPT_TOKENS = 1_800
"""What a prompt takes besides its memory, at most."""
_DECISION_MS = 10_000
_PREFILL_TOKENS_PER_MS = 5


def offer(at: Standing, subtask: Subtask, context: Sequence[str], strongest: bool) -> Offer | None:
    """For this question and context; None where nobody is left who was not asked just this, or money is short."""
    tokens = errands.context_tokens(at.now, context)
    cards = _allowed(at, subtask, context)
    chosen = _strongest(cards) if strongest else _recommended(cards)
    if chosen is None:
        return None
    found = menu.affordable(at.now, *chosen, tokens, at.share_nano_usd)
    is_allowed = found is not None and any(card.model_id == found.model_id for card in cards)
    return found if found is not None and is_allowed and _can_be_paid(at, found, tokens) else None


def _allowed(at: Standing, subtask: Subtask, context: Sequence[str]) -> tuple[ModelCard, ...]:
    """None above all who have answered, which would be an escalation, and none who was asked about just this."""
    cards = {card.model_id: card for card in at.now.models}
    answered = [
        purse.strength(cards[route.model_id])
        for route in at.now.routing.routes
        if route.subtask_id == subtask.subtask_id and route.finding_id is not None
    ]
    asked = {route.model_id for route in at.tries(subtask) if set(context).issubset(route.context_ids)}
    return tuple(
        card
        for card in at.now.models
        if card.model_id not in asked and (not answered or purse.strength(card) <= max(answered))
    )


def _strongest(cards: Sequence[ModelCard]) -> tuple[ModelCard, Effort] | None:
    return (max(cards, key=purse.strength), Effort.MEDIUM) if cards else None


def _recommended(cards: Sequence[ModelCard]) -> tuple[ModelCard, Effort] | None:
    """Whoever writes cheapest and is not small; the cheaper, the more it may think."""
    able = [card for card in cards if card.tier is not Tier.SMALL]
    if not able:
        return (min(cards, key=lambda card: card.output_pico_usd), Effort.HIGH) if cards else None
    card = min(able, key=lambda each: each.output_pico_usd * _WEIGHT_PERMILLE[each.tier])
    if card.tier is Tier.FRONTIER:
        return card, Effort.MEDIUM
    return card, next(effort for effort, below in _BELOW_PICO_USD if card.output_pico_usd < below)


def _can_be_paid(at: Standing, offered: Offer, context_tokens: int) -> bool:
    """With the prompt that asks for it, at most: in money, tokens and time."""
    card = next(card for card in at.now.models if card.model_id == offered.model_id)
    written = REPLY_CAP_TOKENS + card.reasoning_tokens[offered.effort]
    tokens = _PROMPT_TOKENS + at.now.working_memory.token_budget_used + 2 * context_tokens + written
    latency_ms = (
        _DECISION_MS
        + card.first_token_ms
        + tokens // _PREFILL_TOKENS_PER_MS
        + written * 1_000 // card.output_tokens_per_s
    )
    decision = sum(entry.cold_nano_usd for entry in at.now.ledger if entry.who == "controller")
    left = at.now.budgets
    return (
        offered.nano_usd + 2 * decision <= left.nano_usd.left
        and tokens <= left.tokens.left
        and latency_ms <= left.latency_ms.left
    )
