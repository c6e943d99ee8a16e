"""The fit of ceilings and length curves: accuracy = ceiling / (1 + (tokens / half) ** slope), as the simulator has it.

A handful of points cannot carry three parameters for each model, so slopes are shared by families of curves:

- *hyperbolic*, slope 1, not fitted: those that lose a little from the first thousand tokens on;
- *steep*, one slope for all: those that hold out and then break, near the end of what they were trained on
  (RULER's Llama-3.1-70B) or under agentic work (LOCA-bench).

RULER's models differ by nothing but length, and none of its contexts is short: they share one ceiling. No task of these
tables can be solved by a lucky guess, so the guess rate of the odds is 0 here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import exp, log
from statistics import fmean

from TokenOptEnv.calibration.figures import Figures
from TokenOptEnv.calibration.least_squares import Vector, minimise
from TokenOptEnv.simulators.odds import length_factor, log_odds, logistic

_START_CEILING = 0.9
_START_HALF_TOKENS = 50_000.0
_START_STEEP = 1.5
_ONE_CEILING = ("ruler",)
_STEEP = frozenset({("ruler", "Llama-3.1-70B"), ("loca", "Opus-4.5"), ("loca", "GPT-5.2"), ("loca", "DeepSeek-V3.2")})


class SlopeFamily(StrEnum):
    HYPERBOLIC = "hyperbolic"
    STEEP = "steep"


@dataclass(frozen=True, slots=True)
class Curve:
    """What one model's row of one length table comes to."""

    table: str
    model: str
    family: SlopeFamily
    ceiling: float
    half_tokens: float
    slope: float

    def percent(self, tokens: int) -> float:
        return 100.0 * self.ceiling * length_factor(self.half_tokens, self.slope, tokens)


@dataclass(frozen=True, slots=True)
class _Shape:
    table: str
    model: str
    family: SlopeFamily
    own_ceiling: bool
    """Otherwise it shares its table's."""


@dataclass(frozen=True, slots=True)
class Curves:
    rows: tuple[Curve, ...]
    parameters: int

    def of(self, table: str, model: str) -> Curve:
        return next(row for row in self.rows if (row.table, row.model) == (table, model))


def fit_curves(figures: Figures) -> Curves:
    shapes = _shapes(figures)
    points = {(table.name, model): values for table in figures.lengths for model, values in table.rows.items()}
    fitted = {
        table.name: [
            (place, tokens) for place, tokens in enumerate(table.tokens) if tokens not in table.held_out_tokens
        ]
        for table in figures.lengths
    }

    def residuals(parameters: Vector) -> Vector:
        return [
            curve.percent(tokens) - points[curve.table, curve.model][place]
            for curve in _read(shapes, parameters)
            for place, tokens in fitted[curve.table]
        ]

    start = _start(shapes)
    return Curves(_read(shapes, minimise(residuals, start)), parameters=len(start))


def left_out(figures: Figures, table_name: str, model: str) -> Curve:
    """What the others let one expect of a model that was never fitted: the mean of its table, its family's slope."""
    rest = tuple(each.without(model) if each.name == table_name else each for each in figures.lengths)
    curves = fit_curves(figures.model_copy(update={"lengths": rest})).rows
    peers = [curve for curve in curves if curve.table == table_name]
    family = _family(table_name, model)
    return Curve(
        table=table_name,
        model=model,
        family=family,
        ceiling=fmean(peer.ceiling for peer in peers),
        half_tokens=exp(fmean(log(peer.half_tokens) for peer in peers)),
        slope=next(curve.slope for curve in curves if curve.family is family),
    )


def _shapes(figures: Figures) -> tuple[_Shape, ...]:
    return tuple(
        _Shape(table.name, model, _family(table.name, model), own_ceiling=table.name not in _ONE_CEILING)
        for table in figures.lengths
        for model in table.rows
    )


def _family(table: str, model: str) -> SlopeFamily:
    return SlopeFamily.STEEP if (table, model) in _STEEP else SlopeFamily.HYPERBOLIC


def _start(shapes: tuple[_Shape, ...]) -> Vector:
    """The steep slope, a ceiling for each table that shares one, and each row's own."""
    start = [log(_START_STEEP), *(log_odds(_START_CEILING) for _ in _ONE_CEILING)]
    for shape in shapes:
        if shape.own_ceiling:
            start.append(log_odds(_START_CEILING))
        start.append(log(_START_HALF_TOKENS))
    return start


def _read(shapes: tuple[_Shape, ...], parameters: Vector) -> tuple[Curve, ...]:
    """Ceilings in log-odds, lengths and slopes in logarithms: no parameter can leave its range."""
    values = iter(parameters)
    slopes = {SlopeFamily.HYPERBOLIC: 1.0, SlopeFamily.STEEP: exp(next(values))}
    shared = {table: logistic(next(values)) for table in _ONE_CEILING}
    return tuple(
        Curve(
            table=shape.table,
            model=shape.model,
            family=shape.family,
            ceiling=logistic(next(values)) if shape.own_ceiling else shared[shape.table],
            half_tokens=exp(next(values)),
            slope=slopes[shape.family],
        )
        for shape in shapes
    )
