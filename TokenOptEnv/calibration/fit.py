"""The whole fit: figures in, parameters of the simulator out. Each block is fitted on its own and names its points."""

from __future__ import annotations

from dataclasses import dataclass
from math import pow
from statistics import fmean
from typing import Final

from TokenOptEnv.calibration.confidence import Confidence, fit_confidence
from TokenOptEnv.calibration.curves import Curves, fit_curves
from TokenOptEnv.calibration.figures import DistractorTable, Figures, ReductionTable, TaskTable
from TokenOptEnv.calibration.ladder import divide
from TokenOptEnv.simulators.odds import log_odds

DISTRACTORS_PER_DECOY: Final = 8
"""A decoy here is written to mislead, so it is taken for several ordinary distractors. Stated, not measured."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """Levels of whole-task success, in %: the mean of the models that share each."""

    levels: tuple[tuple[float, tuple[str, ...]], ...]

    def percent(self, model: str) -> float:
        return next(level for level, models in self.levels if model in models)


@dataclass(frozen=True, slots=True)
class Fit:
    curves: Curves
    code: Ladder
    readings: dict[tuple[str, str], float]
    """By table and model: success on tables that share no model with another. Read off, not fitted, not counted."""
    tier_step: float
    """In log-odds of a whole task."""
    confidence: Confidence
    attention: float
    """RULER's common ceiling: what even short, plain lookups leave of a perfect score."""
    effort_gain: float
    """In log-odds: what working on it adds where the evidence is there."""
    abstention: float
    """How often a model with no fact to go on says so instead of guessing."""
    decoy_loss: float
    """The share of its odds that the weakest reader loses to one decoy."""


def fit(figures: Figures) -> Fit:
    code = fit_ladder(figures.task_table("swe-bench"))
    curves = fit_curves(figures)
    return Fit(
        curves=curves,
        code=code,
        readings={
            (table.name, model): score.percent / 100.0
            for table in figures.tasks
            if not table.counted
            for model, score in table.rows.items()
        },
        tier_step=(log_odds(code.percent("GPT-5") / 100.0) - log_odds(code.percent("GPT-5-nano") / 100.0)) / 2.0,
        confidence=fit_confidence(figures),
        attention=curves.of("ruler", "GPT-4-1106").ceiling,
        effort_gain=_agent_gain(figures.reductions),
        abstention=_abstention(figures.task_table("rootcause")),
        decoy_loss=_crowding(figures.distractors),
    )


def fit_ladder(table: TaskTable) -> Ladder:
    percents = {model: score.percent for model, score in table.rows.items()}
    groups = divide(percents, len(percents) // 2)
    return Ladder(tuple((fmean(percents[model] for model in group), group) for group in groups))


def _agent_gain(table: ReductionTable) -> float:
    """From one shot to an agent's work on the same reduced log, where the reduction kept the evidence."""
    rows = [table.rows[name] for name in table.informed]
    return fmean(log_odds(row.agent) - log_odds(row.single_shot) for row in rows)


def _crowding(table: DistractorTable) -> float:
    """What one wrong story takes from a weak reader, told from what many ordinary distractors do together."""
    left = fmean(place / row.alone for row in table.rows.values() for place in row.places)
    return 1.0 - pow(left, DISTRACTORS_PER_DECOY / table.distractors)


def _abstention(table: TaskTable) -> float:
    return fmean(score.abstention for score in table.rows.values() if score.abstention is not None) / 100.0
