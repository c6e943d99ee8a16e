"""What a call would cost at most, told from public cards alone: the strongest offer first."""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.config import REPLY_CAP_TOKENS
from TokenOptEnv.models import Effort, ModelCard, Tier, TokenOptEnvObservation

_HEAD_TOKENS = 250
"""Of the instructions, the brief and the question that a worker reads besides its context."""
_VOCABULARY_MARGIN_PERMILLE = 1_250
"""Sizes are told in one vocabulary and billed in another, which may need more tokens for the same text."""
_DECISION_NANO_USD = 1_000_000
"""For the policy's own prompt, at least."""
_GROWTH_PERMILLE = 1_250
"""Of the last prompt, for what came in since."""
_PICO_PER_NANO = 1_000


@dataclass(frozen=True, slots=True)
class Offer:
    model_id: str
    effort: Effort
    nano_usd: int
    """At most, one decision of the policy included."""


def offers(observation: TokenOptEnvObservation, context_tokens: int) -> tuple[Offer, ...]:
    """Every model at every effort: by tier, then price, then effort, the highest first."""
    cards = sorted(observation.models, key=strength, reverse=True)
    decision = _decision_nano_usd(observation)
    return tuple(
        Offer(card.model_id, effort, decision + call_nano_usd(card, effort, context_tokens))
        for card in cards
        for effort in reversed(Effort)
    )


def _decision_nano_usd(observation: TokenOptEnvObservation) -> int:
    """Told from the last prompt, at its price without a cache."""
    last = sum(entry.cold_nano_usd for entry in observation.ledger if entry.who == "controller")
    return max(_DECISION_NANO_USD, last * _GROWTH_PERMILLE // 1_000)


def strength(card: ModelCard) -> tuple[int, int, str]:
    """The order of escalation: tier first, then price."""
    return list(Tier).index(card.tier), card.input_pico_usd, card.model_id


def call_nano_usd(card: ModelCard, effort: Effort, context_tokens: int) -> int:
    """The most that one call can cost."""
    tokens = (context_tokens + _HEAD_TOKENS) * _VOCABULARY_MARGIN_PERMILLE * card.vocabulary_permille // 1_000_000
    input_pico_usd = max(card.input_pico_usd, card.cache_write_pico_usd)
    output_tokens = REPLY_CAP_TOKENS + card.reasoning_tokens[effort]
    return (tokens * input_pico_usd + output_tokens * card.output_pico_usd) // _PICO_PER_NANO
