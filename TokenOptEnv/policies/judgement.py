"""Which offer is worth its price, before anyone was asked: told from tier, effort and whether a model thinks at all.

The figures are round ones from published comparisons of such tiers, not those of any model on the menu: names may
be hidden, and a price table may be new.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from TokenOptEnv.models import Effort, ModelCard, Tier
from TokenOptEnv.policies.purse import Offer, call_nano_usd

_RIGHT = {Tier.SMALL: 0.68, Tier.MID: 0.86, Tier.FRONTIER: 0.94}
_EFFORT_LOGITS = {Effort.LOW: -0.4, Effort.MEDIUM: 0.0, Effort.HIGH: 0.4}
_THINKS_TOKENS = 200
"""A model that may think less than this at medium effort answers off the cuff."""
_OFF_THE_CUFF_LOGITS = -0.6


def chance(card: ModelCard, effort: Effort) -> float:
    """Of a right answer, on good evidence."""
    base = _RIGHT[card.tier]
    logits = log(base / (1 - base)) + _EFFORT_LOGITS[effort]
    if card.reasoning_tokens[Effort.MEDIUM] < _THINKS_TOKENS:
        logits += _OFF_THE_CUFF_LOGITS
    return 1 / (1 + exp(-logits))


def best_offer(
    cards: Sequence[ModelCard], context_tokens: int, calls: int, rest_nano_usd: int, most_nano_usd: int
) -> Offer | None:
    """The most success for the money, if `calls` questions go the same way and all of them must be right.

    `rest_nano_usd` is spent in any case: the dearer the rest, the less it pays to save on an answer.
    """
    offers = [
        (chance(card, effort), Offer(card.model_id, effort, call_nano_usd(card, effort, context_tokens)))
        for card in cards
        for effort in Effort
    ]
    within = [(right, offer) for right, offer in offers if offer.nano_usd <= most_nano_usd]
    if not within:
        return None
    return max(
        within,
        key=lambda each: (round(each[0] ** calls / (rest_nano_usd + calls * each[1].nano_usd), 18), each[1].model_id),
    )[1]
