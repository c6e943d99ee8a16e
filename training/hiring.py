"""Whom a tutor asks, of those that may be asked: the first of the middle tier on the menu, if it can be paid.

How hard is told by whether it thinks. That is all, because a student is to do likewise. What a call comes to is a
product of prices and lengths, and the best offer a comparison of fifteen of them: a student of a tutor who went by
that, as `judgement` does, did as told in half of the calls. Bounds on prices solve two cases of a hundred more than
this, at hardly more cost efficiency, and a short warm start did not teach them. What else pays is for reinforcement to
find.
"""

from __future__ import annotations

from collections.abc import Sequence

from TokenOptEnv.config import REPLY_CAP_TOKENS
from TokenOptEnv.models import Effort, ModelCard, Subtask, Tier
from TokenOptEnv.policies import errands, menu, purse
from TokenOptEnv.policies.purse import Offer
from training.standing import Standing

_TIERS = (Tier.MID, Tier.FRONTIER, Tier.SMALL)
"""Whoever is of another tier than the middle one is asked where that has nobody left."""
_THINKS_TOKENS = 200
"""Of a model that may think less than this at medium effort, high is asked: it costs little, and helps."""
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
    for tier in _TIERS:
        for card in cards:
            if card.tier is tier:
                return card, _effort(card)
    return None


def _effort(card: ModelCard) -> Effort:
    if card.tier is Tier.FRONTIER:
        return Effort.LOW
    return Effort.MEDIUM if card.reasoning_tokens[Effort.MEDIUM] >= _THINKS_TOKENS else Effort.HIGH


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
