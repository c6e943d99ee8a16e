"""From the fit to the catalog: a behaviour for each model, by its lineage.

A published task takes several right answers in a row, a routed question one. So a whole-task level becomes a
question's ceiling by its root: level ** (1 / questions per task). And no ceiling exceeds what short, plain lookups
leave (`attention`).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, log, pow
from statistics import fmean
from typing import Final

from TokenOptEnv.calibration.correlation import fit_rho
from TokenOptEnv.calibration.figures import Figures
from TokenOptEnv.calibration.fit import Fit
from TokenOptEnv.catalog import Behaviour, LengthCurve, SimulatorConstants
from TokenOptEnv.catalog.lineage import LINEAGES, Kin, Lineage, Manner
from TokenOptEnv.models.card import Effort
from TokenOptEnv.scenario import QuestionKind
from TokenOptEnv.simulators.odds import log_odds, logistic

QUESTIONS_PER_TASK: Final = {"swe-bench": 8, "rootcause": 5, "loca": 6}
"""How many right answers of the kind asked here a whole published task rests on. A repair takes 13 to 51 calls, a root
cause a path over several services, an errand several look-ups. Stated, not measured."""
GUESS: Final = 0.05
"""Answers are names out of many (services, commits, lines): a lucky guess is rare. Stated, not measured."""
GATE_POWER: Final = 1.5
"""Half of the facts is worth less than half of the answer (OpenRCA 2.0: one right service 76 %, exact set 21 %)."""
_SURE: Final = 0.99
"""No published level is taken for more: a curve can start at 1, a model cannot."""
_DIGITS: Final = 3


def behaviours(fit: Fit) -> tuple[Behaviour, ...]:
    lookups = {model_id: _lookup(fit, lineage) for model_id, lineage in LINEAGES.items()}
    weakest = min(lookups.values())
    return tuple(
        _behaviour(fit, model_id, lineage, lookups[model_id], weakest) for model_id, lineage in LINEAGES.items()
    )


def constants(fit: Fit, figures: Figures, made: Iterable[Behaviour]) -> SimulatorConstants:
    """`rho` follows from the spread of the models on code, which was measured for most of them."""
    return SimulatorConstants(
        rho=round(fit_rho(figures.routing, [behaviour.ceiling[QuestionKind.CODE] for behaviour in made]), _DIGITS),
        guess=GUESS,
        gate_power=GATE_POWER,
        insufficient_share=round(fit.abstention, _DIGITS),
        confidence_slope=fit.confidence.slope,
    )


def _behaviour(fit: Fit, model_id: str, lineage: Lineage, lookup: float, weakest: float) -> Behaviour:
    gain = fit.effort_gain if lineage.reasons else fit.effort_gain / 2.0
    group = fit.confidence.groups[list(Manner).index(lineage.manner)]
    return Behaviour(
        model_id=model_id,
        ceiling={
            QuestionKind.LOOKUP: round(lookup, _DIGITS),
            QuestionKind.CAUSAL: round(_question(fit, lineage.causal), _DIGITS),
            QuestionKind.CODE: round(_question(fit, lineage.code), _DIGITS),
        },
        effort_gain={Effort.LOW: round(-gain, _DIGITS), Effort.MEDIUM: 0.0, Effort.HIGH: round(gain, _DIGITS)},
        lexical_length=_curve(fit, lineage.lexical),
        nonlexical_length=_curve(fit, lineage.nonlexical),
        decoy_factor=round(1.0 - fit.decoy_loss * (1.0 - lookup) / (1.0 - weakest), _DIGITS),
        confidence_bias=round(group.bias, _DIGITS),
        confidence_noise=fit.confidence.noise,
        confidence_signal=round(fit.confidence.signal, _DIGITS),
    )


def _lookup(fit: Fit, lineage: Lineage) -> float:
    return fit.attention * _mean_share(fit.curves.of("nolima", model).ceiling for model in lineage.lookup.models)


def _question(fit: Fit, kin: Kin) -> float:
    level = fmean(log_odds(_task_level(fit, kin.table, model)) for model in kin.models)
    task = logistic(level + kin.tier_steps * fit.tier_step)
    return fit.attention * pow(task, 1.0 / QUESTIONS_PER_TASK[kin.table])


def _task_level(fit: Fit, table: str, model: str) -> float:
    match table:
        case "swe-bench":
            level = fit.code.percent(model) / 100.0
        case "loca":
            level = fit.curves.of(table, model).ceiling
        case _:
            level = fit.readings[table, model]
    return min(_SURE, level)


def _curve(fit: Fit, kin: Kin) -> LengthCurve:
    curves = [fit.curves.of(kin.table, model) for model in kin.models]
    half = exp(fmean(log(curve.half_tokens) for curve in curves))
    return LengthCurve(half_tokens=_significant(half), slope=round(fmean(curve.slope for curve in curves), _DIGITS))


def _significant(tokens: float) -> int:
    """Three digits: finer would pretend to more than the figures hold."""
    return int(float(f"{tokens:.3g}"))


def _mean_share(shares: Iterable[float]) -> float:
    return logistic(fmean(log_odds(min(0.999, share)) for share in shares))
