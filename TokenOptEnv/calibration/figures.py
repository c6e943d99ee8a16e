"""The published figures that the simulator is fitted to, with their sources; the data stand in `figures.json`.

A figure is entered as published. What is held out is a property of a table and fixed with it, so that no fit
can choose its own examination.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from TokenOptEnv.models.base import Frozen


class LengthTable(Frozen):
    """Accuracy in % against the length of the context."""

    name: str
    title: str
    source: str
    lexical: bool
    tokens: tuple[int, ...]
    held_out_tokens: tuple[int, ...]
    rows: dict[str, tuple[float, ...]]

    def without(self, model: str) -> LengthTable:
        return self.model_copy(update={"rows": {name: row for name, row in self.rows.items() if name != model}})


class TaskScore(Frozen):
    percent: float
    abstention: float | None = None
    """In %: how often it declined where nothing could be concluded."""
    usd_per_task: float | None = None
    calls: int | None = None


class TaskTable(Frozen):
    """Whole tasks solved. A table that shares no model with another only says how hard its tasks are: not counted."""

    name: str
    title: str
    source: str
    counted: bool
    rows: dict[str, TaskScore]


class Stated(Frozen):
    """In %: how often a model was right, how sure it said it was, and the RMS calibration error where published."""

    accuracy: float
    stated: float
    rms_error: float | None = None


class ConfidenceTable(Frozen):
    name: str
    title: str
    source: str
    rows: dict[str, Stated]


class Discrimination(Frozen):
    """How well stated confidence tells right from wrong; `low` and `high` are what a simulated model must keep to."""

    source: str
    verbalised: float
    white_box: float
    low: float
    high: float


class Crowded(Frozen):
    """Accuracy in % with the answer at several places among other documents, and with its document alone."""

    places: tuple[float, ...]
    alone: float


class DistractorTable(Frozen):
    source: str
    distractors: int
    """Documents beside the one that answers."""
    rows: dict[str, Crowded]


class Reduction(Frozen):
    """One way to cut a log before diagnosis; scores in [0, 1]."""

    tokens: int
    usd: float | None
    single_shot: float
    agent: float
    confident_error: float


class ReductionTable(Frozen):
    source: str
    rows: dict[str, Reduction]
    informed: tuple[str, ...]
    """Those that leave the evidence in and fit a window: there, more effort is all that an agent adds."""


class RoutingFigures(Frozen):
    source: str
    best_single: float
    oracle: float


class Figures(Frozen):
    date: str
    """When they were last read; stamped on the parameters fitted to them."""
    lengths: tuple[LengthTable, ...]
    tasks: tuple[TaskTable, ...]
    confidence: tuple[ConfidenceTable, ...]
    discrimination: Discrimination
    distractors: DistractorTable
    reductions: ReductionTable
    routing: RoutingFigures

    def length_table(self, name: str) -> LengthTable:
        return next(table for table in self.lengths if table.name == name)

    def task_table(self, name: str) -> TaskTable:
        return next(table for table in self.tasks if table.name == name)


@cache
def load_figures() -> Figures:
    text = files("TokenOptEnv.calibration").joinpath("figures.json").read_text(encoding="utf-8")
    return Figures.model_validate_json(text)
