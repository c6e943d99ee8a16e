"""Whom a tutor asks, of those that may be asked: who is worth its price, and can be paid.

By what a prompt tells of models: tier, prices, and how much they think. What the rest of an episode costs is taken for
the same in all of a kind, since no prompt tells what was spent on what: a student that was taught to go by more would
guess.
"""

from __future__ import annotations

from collections.abc import Sequence

from TokenOptEnv.config import REPLY_CAP_TOKENS
from TokenOptEnv.models import Effort, ModelCard, Subtask
from TokenOptEnv.policies import errands, judgement, menu, purse
from TokenOptEnv.policies.purse import Offer
from training.standing import Standing

_REST_NANO_USD = 20_000_000
_WIDE_REST_NANO_USD = 40_000_000
"""All of it counts twice: one wrong answer, and it was spent for nothing."""
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
    subtasks = at.now.task.subtasks
    rest = _WIDE_REST_NANO_USD if any(map(at.is_wide, subtasks)) else _REST_NANO_USD
    told = list(map(_as_told, cards))
    best = judgement.best_offer(told, context_tokens, len(subtasks), rest, at.share_nano_usd)
    return None if best is None else (next(card for card in cards if card.model_id == best.model_id), best.effort)


def _as_told(card: ModelCard) -> ModelCard:
    """No prompt has premiums for caching, nor in how many tokens a model counts what all read."""
    return card.model_copy(update={"cache_write_pico_usd": card.input_pico_usd, "vocabulary_permille": 1_000})


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
