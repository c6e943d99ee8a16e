"""The fit of `rho`: how far models fail on the same questions.

The published pair is a best single model and an oracle that picks a right model wherever there is one. The nearer the
oracle stays to the best single model, the more errors are shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist

from TokenOptEnv.calibration.figures import RoutingFigures
from TokenOptEnv.simulators.odds import log_odds, logistic

_NORMAL = NormalDist()
_NODES = tuple(_NORMAL.inv_cdf((place + 0.5) / 400) for place in range(400))


def fit_rho(figures: RoutingFigures, levels: Sequence[float]) -> float:
    """`levels`: accuracies of the models that are chosen from; only their spread in log-odds counts."""
    shares = moved_to(levels, figures.best_single / 100.0)
    low, high = 0.01, 0.99
    for _ in range(50):
        middle = (low + high) / 2.0
        if oracle(shares, middle) > figures.oracle / 100.0:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def moved_to(levels: Sequence[float], best: float) -> tuple[float, ...]:
    """The same spread, with the best at `best`."""
    spread = [log_odds(level) for level in levels]
    return tuple(logistic(value - max(spread) + log_odds(best)) for value in spread)


def oracle(shares: Sequence[float], rho: float) -> float:
    """How often at least one of the models is right."""
    lines = [_NORMAL.inv_cdf(share) for share in shares]
    nobody = 0.0
    for node in _NODES:
        wrong = 1.0
        for line in lines:
            wrong *= 1.0 - _NORMAL.cdf((line - sqrt(rho) * node) / sqrt(1.0 - rho))
        nobody += wrong
    return 1.0 - nobody / len(_NODES)
