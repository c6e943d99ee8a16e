"""When a second, dearer opinion is worth its price: what a plan may work out and an agent has to learn.

Stated confidence moves the chance that an answer is right (by Bayes, from how a model states it), and a failure says
that the question is hard for the next model too. Between the two lies the confidence at which asking on just pays.
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

from TokenOptEnv.catalog import Behaviour, SimulatorConstants
from TokenOptEnv.simulators.odds import log_odds, logistic, stated_confidence

_NORMAL = NormalDist()
_NODES = tuple(_NORMAL.inv_cdf((place + 0.5) / 101) for place in range(101))
_EDGE = 1e-9


def trust(constants: SimulatorConstants, behaviour: Behaviour, chance: float, confidence: float) -> float:
    """The chance that an answer is right, given the odds before it came and the confidence it came with."""
    surprise = log_odds(_inside(confidence)) - _centre(constants, behaviour, chance)
    weight = 2.0 * behaviour.confidence_signal / behaviour.confidence_noise**2
    return logistic(log_odds(_inside(chance)) + weight * surprise)


def second_opinion(rho: float, first: float, second: float) -> tuple[float, float]:
    """The second model's chance of being right where the first one was right, and where it was wrong."""
    lines = [_NORMAL.inv_cdf(_inside(chance)) for chance in (first, second)]
    both = 0.0
    for node in _NODES:
        one, two = (_NORMAL.cdf((line - sqrt(rho) * node) / sqrt(1.0 - rho)) for line in lines)
        both += one * two / len(_NODES)
    return both / _inside(first), (second - both) / _inside(1.0 - first)


def break_even(
    constants: SimulatorConstants,
    behaviour: Behaviour,
    first: float,
    second: float,
    price_nano_usd: int,
    value_nano_usd: int,
) -> float:
    """The stated confidence below which replacing the first answer by the second model's is worth `price_nano_usd`.

    `first` and `second` are both models' odds on this question, `value_nano_usd` is what a right answer is worth.
    0 where asking on never pays, 1 where it always does.
    """
    given_right, given_wrong = second_opinion(constants.rho, first, second)
    doubt = (given_wrong - price_nano_usd / value_nano_usd) / (1.0 - given_right + given_wrong)
    if doubt <= 0.0:
        return 0.0
    if doubt >= 1.0:
        return 1.0
    weight = 2.0 * behaviour.confidence_signal / behaviour.confidence_noise**2
    surprise = (log_odds(doubt) - log_odds(_inside(first))) / weight
    return round(stated_confidence(_centre(constants, behaviour, first) + surprise), 4)


def _centre(constants: SimulatorConstants, behaviour: Behaviour, chance: float) -> float:
    """The log-odds that a model states on average at these odds, halfway between right and wrong."""
    return constants.confidence_slope * log_odds(_inside(chance)) + behaviour.confidence_bias


def _inside(share: float) -> float:
    return min(1.0 - _EDGE, max(_EDGE, share))
