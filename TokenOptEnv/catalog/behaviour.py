"""The private behaviour of a model: what the simulator knows and no observation shows."""

from __future__ import annotations

from TokenOptEnv.models.base import Frozen
from TokenOptEnv.models.card import Effort
from TokenOptEnv.scenario.hidden import QuestionKind


class LengthCurve(Frozen):
    """The share of its short-context accuracy a model keeps: 1 / (1 + (tokens / half) ** slope)."""

    half_tokens: int
    slope: float


class Behaviour(Frozen):
    model_id: str
    ceiling: dict[QuestionKind, float]
    """Accuracy on exactly the needed facts, at medium effort."""
    effort_gain: dict[Effort, float]
    """Added to the ceiling's log-odds."""
    lexical_length: LengthCurve
    nonlexical_length: LengthCurve
    decoy_factor: float
    """What one decoy in the context leaves of the odds."""
    confidence_bias: float
    """Overconfidence: added to the stated log-odds."""
    confidence_noise: float
    """Standard deviation of the noise on stated log-odds."""
    confidence_signal: float
    """How far stated log-odds move with being right or wrong."""


class SimulatorConstants(Frozen):
    """Shared by all models."""

    rho: float
    """Correlation of errors across models on one question."""
    guess: float
    gate_power: float
    """The gate is (share of needed facts present) ** gate_power."""
    insufficient_share: float
    """With no fact present: how often a model says so instead of guessing."""
    confidence_slope: float
    """How much of the true log-odds shows in the stated ones: models say little about how hard a question is."""
