"""The fit of stated confidence: three groups that overstate alike, one discrimination.

A simulated model states logistic(slope x log-odds of its odds + bias ± signal + noise x z): plus when it is right.
The bias is how much it overstates, fitted per group; signal over noise is what its word is worth, set by
the published discrimination. Questions of one published table are taken to be equally hard.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, pi, sqrt
from statistics import NormalDist, fmean

from TokenOptEnv.calibration.figures import Figures, Stated
from TokenOptEnv.calibration.ladder import divide
from TokenOptEnv.calibration.least_squares import Vector, minimise
from TokenOptEnv.simulators.odds import log_odds, stated_confidence

SLOPE = 0.3
"""How much of the odds shows in what is stated. Not published; low, since models state much where they know little."""
NOISE = 1.0
"""Not published either; what counts is the signal over it."""
_NODES = tuple(-4.0 + 8.0 * (place + 0.5) / 80 for place in range(80))


@dataclass(frozen=True, slots=True)
class Group:
    """Models that overstate alike."""

    bias: float
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Confidence:
    groups: tuple[Group, ...]
    """Least overconfident first."""
    slope: float
    noise: float
    signal: float
    parameters: int

    def of(self, model: str) -> Group:
        return next(group for group in self.groups if model in group.models)

    def stated(self, bias: float, accuracy: float) -> tuple[float, float]:
        """Mean confidence and RMS calibration error, in %, where every question has the odds `accuracy`."""
        return _stated(accuracy, bias, self.signal)


def fit_confidence(figures: Figures) -> Confidence:
    rows = {model: row for table in figures.confidence for model, row in table.rows.items()}
    target = (figures.discrimination.low + figures.discrimination.high) / 2.0
    signal = NOISE * NormalDist().inv_cdf(target) / sqrt(2.0)
    alone = {model: _own_bias(row, signal) for model, row in rows.items()}
    groups = divide(alone, len(rows) // 2)

    def residuals(biases: Vector) -> Vector:
        left: Vector = []
        for group, bias in zip(groups, biases, strict=True):
            for model in group:
                row = rows[model]
                stated, rms_error = _stated(row.accuracy / 100.0, bias, signal)
                left.append(stated - row.stated)
                if row.rms_error is not None:
                    left.append(rms_error - row.rms_error)
        return left

    biases = minimise(residuals, [fmean(alone[model] for model in group) for group in groups])
    found = tuple(Group(bias, models) for bias, models in zip(biases, groups, strict=True))
    return Confidence(found, SLOPE, NOISE, signal, parameters=len(biases) + 1)


def _own_bias(row: Stated, signal: float) -> float:
    """The bias at which the mean is exactly what was published, by bisection."""
    low, high = -5.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2.0
        if _stated(row.accuracy / 100.0, middle, signal)[0] < row.stated:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def _stated(accuracy: float, bias: float, signal: float) -> tuple[float, float]:
    """By quadrature over what is stated; within each place, right and wrong answers are weighed against each other."""
    mean = squared = 0.0
    centre = SLOPE * log_odds(accuracy) + bias
    for node in _NODES:
        level = centre + NOISE * node
        right = accuracy * _density((node * NOISE - signal) / NOISE)
        wrong = (1.0 - accuracy) * _density((node * NOISE + signal) / NOISE)
        weight = (right + wrong) * 0.1
        confidence = stated_confidence(level)
        mean += weight * confidence
        squared += weight * (confidence - right / (right + wrong)) ** 2
    return 100.0 * mean, 100.0 * sqrt(squared)


def _density(z: float) -> float:
    return exp(-z * z / 2.0) / sqrt(2.0 * pi)
