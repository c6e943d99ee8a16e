"""Whom to ask: the models on offer, told apart by what their public cards say."""

from __future__ import annotations

from TokenOptEnv.models import Effort, ModelCard, Tier, TokenOptEnvObservation
from TokenOptEnv.policies.purse import Offer, call_nano_usd, offers, strength


def ladder(observation: TokenOptEnvObservation) -> tuple[ModelCard, ...]:
    """The weakest first, in the order of escalation."""
    return tuple(sorted(observation.models, key=strength))


def strongest(observation: TokenOptEnvObservation) -> ModelCard:
    return ladder(observation)[-1]


def mid_tier(observation: TokenOptEnvObservation) -> ModelCard:
    """The cheapest of the middle tier; where the menu has none, whoever stands in the middle."""
    rungs = ladder(observation)
    middle = [card for card in rungs if card.tier is Tier.MID]
    return middle[0] if middle else rungs[len(rungs) // 2]


def stronger(observation: TokenOptEnvObservation, model_id: str) -> tuple[ModelCard, ...]:
    """Those above this one, the next first."""
    rungs = ladder(observation)
    place = next(number for number, card in enumerate(rungs) if card.model_id == model_id)
    return rungs[place + 1 :]


def affordable(
    observation: TokenOptEnvObservation, wanted: ModelCard, effort: Effort, context_tokens: int, nano_usd: int
) -> Offer | None:
    """What is wanted, or the next best that this much money pays for: less effort first, then weaker models."""
    wished = (strength(wanted), -list(Effort).index(effort))
    cards = {card.model_id: card for card in observation.models}
    for offer in offers(observation, context_tokens):
        rank = (strength(cards[offer.model_id]), -list(Effort).index(offer.effort))
        is_less = rank[0] < wished[0] or (rank[0] == wished[0] and rank[1] >= wished[1])
        if is_less and offer.nano_usd <= nano_usd:
            return offer
    return None


def price_nano_usd(card: ModelCard, effort: Effort, context_tokens: int) -> int:
    return call_nano_usd(card, effort, context_tokens)
