"""What the fit leaves: each published point beside the fitted one, and the error of models that were left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from TokenOptEnv.calibration.correlation import moved_to, oracle
from TokenOptEnv.calibration.curves import left_out
from TokenOptEnv.calibration.figures import Figures
from TokenOptEnv.calibration.fit import Fit, fit_ladder
from TokenOptEnv.catalog.snapshot import BehavioursFile
from TokenOptEnv.scenario import QuestionKind


@dataclass(frozen=True, slots=True)
class Point:
    """In percentage points throughout."""

    table: str
    model: str
    at: str
    published: float
    fitted: float
    held_out: bool = False

    @property
    def error(self) -> float:
        return self.fitted - self.published


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The mean absolute error on a model's points when nothing of it was fitted: reported, never limited."""

    table: str
    model: str
    mean_error: float


def points(fit: Fit, figures: Figures, measured: BehavioursFile) -> tuple[Point, ...]:
    return (*_lengths(fit, figures), *_tasks(fit, figures), *_confidence(fit, figures), _routing(figures, measured))


def parameter_counts(fit: Fit) -> dict[str, int]:
    """By block, in the order of the page."""
    return {
        "ceilings and length curves": fit.curves.parameters,
        "levels of whole-task success": len(fit.code.levels),
        "stated confidence": fit.confidence.parameters,
        "correlation of errors": 1,
    }


def mean_error(found: Iterable[Point], *, held_out: bool) -> float:
    return fmean(abs(point.error) for point in found if point.held_out is held_out)


def left_out_errors(figures: Figures) -> tuple[LeftOut, ...]:
    """Length tables by the mean of the others' curves, whole tasks by the mean of the others' scores."""
    found: list[LeftOut] = []
    for table in figures.lengths:
        for model, row in table.rows.items():
            curve = left_out(figures, table.name, model)
            errors = [abs(curve.percent(at) - value) for at, value in zip(table.tokens, row, strict=True)]
            found.append(LeftOut(table.title, model, fmean(errors)))
    for task_table in (table for table in figures.tasks if table.counted):
        for model, score in task_table.rows.items():
            rest = {name: other for name, other in task_table.rows.items() if name != model}
            ladder = fit_ladder(task_table.model_copy(update={"rows": rest}))
            expected = fmean(ladder.percent(name) for name in rest)
            found.append(LeftOut(task_table.title, model, abs(expected - score.percent)))
    return tuple(found)


def _lengths(fit: Fit, figures: Figures) -> list[Point]:
    return [
        Point(
            table.title,
            model,
            f"{tokens // 1000}K" if tokens else "base",
            published,
            fit.curves.of(table.name, model).percent(tokens),
            held_out=tokens in table.held_out_tokens,
        )
        for table in figures.lengths
        for model, row in table.rows.items()
        for tokens, published in zip(table.tokens, row, strict=True)
    ]


def _tasks(fit: Fit, figures: Figures) -> list[Point]:
    return [
        Point(table.title, model, "solved", score.percent, fit.code.percent(model))
        for table in figures.tasks
        if table.counted
        for model, score in table.rows.items()
    ]


def _confidence(fit: Fit, figures: Figures) -> list[Point]:
    found: list[Point] = []
    for table in figures.confidence:
        for model, row in table.rows.items():
            stated, rms_error = fit.confidence.stated(fit.confidence.of(model).bias, row.accuracy / 100.0)
            found.append(Point(table.title, model, "stated", row.stated, stated))
            if row.rms_error is not None:
                found.append(Point(table.title, model, "RMS error", row.rms_error, rms_error))
    return found


def _routing(figures: Figures, measured: BehavioursFile) -> Point:
    """With the parameters as they are written, rounding included."""
    levels = [behaviour.ceiling[QuestionKind.CODE] for behaviour in measured.behaviours]
    shares = moved_to(levels, figures.routing.best_single / 100.0)
    reached = 100.0 * oracle(shares, measured.constants.rho)
    return Point("LLMRouterBench", "oracle", "solved", figures.routing.oracle, reached)
