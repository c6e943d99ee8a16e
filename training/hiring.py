"""Whom a tutor asks: the model whose answers are worth most, of those that may be asked and can be paid."""

from __future__ import annotations

from collections.abc import Sequence

from TokenOptEnv.config import REPLY_CAP_TOKENS
from TokenOptEnv.models import Effort, ModelCard, RouteRecord, Subtask
from TokenOptEnv.policies import errands, judgement, menu, purse
from TokenOptEnv.policies.purse import Offer
from training.standing import Standing

_CAUTION = 2
"""The rest counts so much: one wrong answer, and all of it was spent for nothing."""
_WIDE_STEPS = 10
_NARROW_STEPS = 2
"""What a question takes, roughly."""
_PROMPT_TOKENS = 1_800
"""What a prompt takes besides its memory, at most."""
_DECISION_MS = 10_000
_PREFILL_TOKENS_PER_MS = 5


def offer(at: Standing, subtask: Subtask, context: Sequence[str], strongest: bool) -> Offer | None:
    """For this question and context; None where nobody is left who was not asked just this, or money is short."""
    tokens = errands.context_tokens(at.now, context)
    cards = _allowed(at, subtask, context)
    chosen = _strongest(cards) if strongest else _recommended(at, cards, tokens)
    if chosen is None:
        return None
    found = menu.affordable(at.now, *chosen, tokens, at.share_nano_usd)
    is_allowed = found is not None and any(card.model_id == found.model_id for card in cards)
    return found if found is not None and is_allowed and _can_be_paid(at, found, tokens) else None


def second_opinion(at: Standing, route: RouteRecord) -> Offer | None:
    """A stronger model on the same."""
    tokens = errands.context_tokens(at.now, route.context_ids)
    chosen = _recommended(at, menu.stronger(at.now, route.model_id), tokens)
    if chosen is None:
        return None
    named = (chosen[0].model_id, chosen[1])
    found = next(each for each in purse.offers(at.now, tokens) if (each.model_id, each.effort) == named)
    return found if _can_be_paid(at, found, tokens) else None


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


def _recommended(at: Standing, cards: Sequence[ModelCard], context_tokens: int) -> tuple[ModelCard, Effort] | None:
    """The most success for the money that the whole episode takes."""
    calls, rest = len(at.now.task.subtasks), _CAUTION * _rest_nano_usd(at)
    best = judgement.best_offer(cards, context_tokens, calls, rest, at.share_nano_usd)
    return None if best is None else (next(card for card in cards if card.model_id == best.model_id), best.effort)


def _rest_nano_usd(at: Standing) -> int:
    """What the whole episode costs besides its calls, if its steps to come are like those so far."""
    own = at.now.budgets.nano_usd.spent - sum(route.nano_usd for route in at.now.routing.routes)
    to_come = 1 + sum(_WIDE_STEPS if at.is_wide(each) else _NARROW_STEPS for each in at.open)
    return own * (at.now.step + to_come) // max(1, at.now.step)


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
