"""How likely a simulated model is right, and the one draw that decides whether it is.

    odds = guess + (ceiling - guess) x gate x length x decoys

Each factor stands for one published effect (`docs/models.md`). The draw is a Gaussian copula: a part shared
by all models (the question is hard) and a part of the model's own (it is hard for this one). It is keyed by
what is asked of whom and never by how: more effort or better context moves the odds past a fixed threshold,
so asking again, or stirring in what does not matter, cannot re-roll it.
"""

from __future__ import annotations

from math import exp, log, pow, sqrt
from statistics import NormalDist

from TokenOptEnv.catalog import Behaviour, LengthCurve, SimulatorConstants
from TokenOptEnv.models.card import Effort
from TokenOptEnv.scenario import SubtaskTruth
from TokenOptEnv.streams import normal

_NORMAL = NormalDist()
_DIGITS = 9
"""Results are rounded here, at the source: maths libraries differ in the last bits."""
_CONFIDENCE_RANGE = (0.05, 0.99)


def odds(
    constants: SimulatorConstants,
    behaviour: Behaviour,
    truth: SubtaskTruth,
    effort: Effort,
    share: float,
    context_tokens: int,
    decoys: int,
) -> float:
    """The chance that this model is right, given the share of the needed facts and the number of decoys it reads."""
    if share <= 0.0:
        return constants.guess
    ceiling = logistic(log_odds(behaviour.ceiling[truth.kind]) + behaviour.effort_gain[effort])
    curve = behaviour.lexical_length if truth.lexical else behaviour.nonlexical_length
    gate = pow(share, constants.gate_power)
    kept = gate * kept_at_length(curve, context_tokens) * pow(behaviour.decoy_factor, decoys)
    return round(constants.guess + (ceiling - constants.guess) * kept, _DIGITS)


def threshold(scenario_id: str, world_index: int, redraw: int, subtask_id: str, model_id: str, *, rho: float) -> float:
    """The model is right iff this is below its odds. Uniform over worlds; correlated by `rho` across models."""
    shared = normal(scenario_id, world_index, redraw, "question", subtask_id)
    own = normal(scenario_id, world_index, redraw, "answer", subtask_id, model_id)
    return round(_NORMAL.cdf(sqrt(rho) * shared + sqrt(1.0 - rho) * own), _DIGITS)


def kept_at_length(curve: LengthCurve, context_tokens: int) -> float:
    """The share of its short-context accuracy that a model keeps."""
    return length_factor(curve.half_tokens, curve.slope, context_tokens)


def length_factor(half_tokens: float, slope: float, context_tokens: int) -> float:
    return 1.0 / (1.0 + pow(context_tokens / half_tokens, slope))


def stated_confidence(level: float) -> float:
    """What a model says, from the log-odds it feels: never quite sure, never quite at a loss."""
    low, high = _CONFIDENCE_RANGE
    return min(high, max(low, logistic(level)))


def log_odds(share: float) -> float:
    return log(share / (1.0 - share))


def logistic(value: float) -> float:
    return 1.0 / (1.0 + exp(-value))
