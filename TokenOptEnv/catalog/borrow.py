"""Behaviour for models nobody has measured yet: their tier's, set apart by a fixed offset from its spread.

Newer models at today's prices have no published curves. Giving each the mean of its tier would make them
twins; giving each a made-up figure would pretend to knowledge. So a model gets its tier's mean plus a fixed
number of the tier's own standard deviations, and its card says `borrowed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import exp, log
from statistics import fmean, pstdev

from TokenOptEnv.catalog.behaviour import Behaviour, LengthCurve
from TokenOptEnv.catalog.snapshot import Catalog
from TokenOptEnv.models.card import Effort, ModelCard, Tier
from TokenOptEnv.scenario.hidden import QuestionKind
from TokenOptEnv.streams import uniform

_DIGITS = 3
_PRICE_PULL = 0.5
_OWN_PULL = 0.4
_INPUT_PER_OUTPUT = 10


def borrow_all(borrower: Catalog, lender: Catalog, behaviours: Mapping[str, Behaviour]) -> tuple[Behaviour, ...]:
    measured = {
        tier: [behaviours[card.model_id] for card in lender.cards.values() if card.tier is tier] for tier in Tier
    }
    return tuple(
        _borrow(card.model_id, measured[card.tier], _offset(card, borrower)) for card in borrower.cards.values()
    )


def _offset(card: ModelCard, catalog: Catalog) -> float:
    """In standard deviations. What the market charges says something about a model, but not everything."""
    prices = [_blended(other) for other in catalog.cards.values() if other.tier is card.tier]
    cheaper = sum(price < _blended(card) for price in prices)
    dearer = sum(price > _blended(card) for price in prices)
    rank = (cheaper - dearer) / max(1, len(prices) - 1)
    return _PRICE_PULL * rank + _OWN_PULL * (2.0 * uniform("borrow", card.model_id) - 1.0)


def _blended(card: ModelCard) -> int:
    """Agents send many input tokens for each output token."""
    return _INPUT_PER_OUTPUT * card.input_pico_usd + card.output_pico_usd


def _borrow(model_id: str, tier: list[Behaviour], offset: float) -> Behaviour:
    """One offset for everything: a model above its tier is above it in each respect."""
    return Behaviour(
        model_id=model_id,
        ceiling={kind: _shifted_share((b.ceiling[kind] for b in tier), offset) for kind in QuestionKind},
        effort_gain={effort: _shifted((b.effort_gain[effort] for b in tier), 0.0) for effort in Effort},
        lexical_length=_shifted_curve([b.lexical_length for b in tier], offset),
        nonlexical_length=_shifted_curve([b.nonlexical_length for b in tier], offset),
        decoy_factor=_shifted_share((b.decoy_factor for b in tier), offset),
        confidence_bias=_shifted((b.confidence_bias for b in tier), -offset),
        confidence_noise=_shifted((b.confidence_noise for b in tier), 0.0),
        confidence_signal=_shifted((b.confidence_signal for b in tier), offset),
    )


def _shifted(values: Iterable[float], offset: float) -> float:
    known = list(values)
    return round(fmean(known) + offset * pstdev(known), _DIGITS)


def _shifted_share(shares: Iterable[float], offset: float) -> float:
    """In log-odds, so that no offset leaves (0, 1), and never beyond the best or the worst of the tier."""
    known = [log(share / (1.0 - share)) for share in shares]
    shifted = min(max(known), max(min(known), fmean(known) + offset * pstdev(known)))
    return round(1.0 / (1.0 + exp(-shifted)), _DIGITS)


def _shifted_curve(curves: list[LengthCurve], offset: float) -> LengthCurve:
    """Lengths in logarithms: what doubles matters, not what is added."""
    lengths = [log(curve.half_tokens) for curve in curves]
    half = exp(fmean(lengths) + offset * pstdev(lengths))
    return LengthCurve(half_tokens=100 * round(half / 100), slope=_shifted((curve.slope for curve in curves), 0.0))
