"""What the figures of a run are drawn from: the metrics of its stages, side by side on one axis.

A folder of metrics holds

    grpo.jsonl        the first stage
    seed-*.jsonl      the last stage, which goes on from the first, once for each seed (none: the run has one stage)
    sft.jsonl         the warm start, whose checks stand where the first stage begins (may be left out)
    baselines.json    what heuristics reach on the same validation box (may be left out)
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from TokenOptEnv.errors import BadInput
from training.results import REACHED

Row = Mapping[str, Any]
Stage = Mapping[int, Row]
"""Rows by their place on the axis: how many iterations of the whole run were done by then; the warm start is at 0."""
Series = Mapping[int, float]

_AGAIN = "copy it again from the run's metrics.jsonl"
_MEASURED_AGAIN = "write it again with python -m training.evaluate --summary"


@dataclass(frozen=True, slots=True)
class Run:
    first: Stage
    seeds: tuple[Stage, ...]
    baselines: Mapping[str, Mapping[str, float]]

    @property
    def length(self) -> int:
        return max(max(stage) for stage in (self.first, *self.seeds))

    @property
    def last_stage_at(self) -> float | None:
        """Between two iterations: what is before it was played by the first stage."""
        return max(self.first) + 0.5 if self.seeds else None

    def measured(self) -> set[str]:
        return {key for stage in (self.first, *self.seeds) for row in stage.values() for key in row}


def read(folder: Path) -> Run:
    if not folder.is_dir():
        raise BadInput(f"there is no folder of metrics {str(folder)!r}; name one with --metrics")
    rows = [_with_gains(row) for row in _rows(folder / "grpo.jsonl")]
    first: dict[int, Row] = {row["iteration"] + 1: row for row in rows}
    if (warm_start := folder / "sft.jsonl").is_file():
        checks = _rows(warm_start)[-1]
        first = {0: {key: value for key, value in checks.items() if key.startswith("check_")}, **first}
    seeds = [[_with_gains(row) for row in _rows(file)] for file in sorted(folder.glob("seed-*.jsonl"))]
    # A last stage may count from 0 again or go on counting: either way it begins where the first one ended.
    shift = max(first) + 1 - min((row["iteration"] for seed in seeds for row in seed), default=0)
    return Run(
        first,
        tuple({row["iteration"] + shift: row for row in seed} for seed in seeds),
        _baselines(folder / "baselines.json"),
    )


def _with_gains(row: Row) -> Row:
    """And what the policy reached, and what above the heuristic on the same cases: which were drawn is not in it.

    With as little luck as was measured: by episodes that took the likeliest tokens, where others are bold on purpose,
    and on average over the draws that might have been.
    """
    found = dict(row)
    for key in REACHED:
        luck = "expected_" if f"compared_expected_{key}" in row else ""
        own = f"undrawn_{luck}{key}" if f"undrawn_{luck}{key}" in row else luck + key
        if own in row:
            found[f"played_{key}"] = row[own]
        if own in row and f"compared_{luck}{key}" in row:
            found[f"beside_{key}"] = row[f"compared_{luck}{key}"]
            found[f"gained_{key}"] = row[own] - row[f"compared_{luck}{key}"]
    return found


def series(stage: Stage, key: str) -> Series:
    """Where it was measured. What is not finite cannot be drawn and counts as not measured."""
    return {place: float(row[key]) for place, row in stage.items() if key in row and math.isfinite(row[key])}


def mean(several: Sequence[Series]) -> Series:
    """Only where all have a value: a seed that ended early must not look like a jump."""
    return {place: fmean(each[place] for each in several) for place in _shared(several)}


def band(several: Sequence[Series]) -> Mapping[int, tuple[float, float]]:
    """The lowest and the highest, where all have a value."""
    return {
        place: (min(each[place] for each in several), max(each[place] for each in several))
        for place in _shared(several)
    }


def action_shares(run: Run) -> dict[str, Series]:
    """Of all actions, the mean of the seeds in the last stage. What nobody did in an iteration is not in its row."""
    names = sorted(key for key in run.measured() if key.startswith("action_") and key != "action_tokens")
    found: dict[str, Series] = {}
    for name in names:
        first, *seeds = (
            {place: float(row.get(name, 0.0)) for place, row in stage.items() if "iteration" in row}
            for stage in (run.first, *run.seeds)
        )
        found[name.removeprefix("action_")] = {**first, **mean(seeds)}
    return found


def marks(run: Run) -> list[tuple[float, str]]:
    """What happened on the way, in order. Each seed has a curriculum of its own; the fastest is told."""
    found = [(float(place), f"{name} cases join") for place, name in _harder_cases(run.first).items()]
    if run.last_stage_at is not None:
        found.append((run.last_stage_at, _last_stage(run)))
    joined: dict[str, int] = {}
    for stage in run.seeds:
        for place, name in _harder_cases(stage).items():
            joined[name] = min(place, joined.get(name, place))
    found += [(float(place), f"{name} cases join") for name, place in joined.items()]
    return sorted(found)


def _last_stage(run: Run) -> str:
    """A curriculum that begins anew is told: else its easier cases would pass for progress."""
    many = "1 seed" if len(run.seeds) == 1 else f"{len(run.seeds)} seeds"
    ended = _reached(run.first)[-1:]
    begun = {each[1] for stage in run.seeds for each in _reached(stage)[:1]}
    is_new = bool(begun - {name for _, name in ended})
    return f"last stage, {many}" + (f", {' or '.join(sorted(begun))} cases" if is_new else "")


def _harder_cases(stage: Stage) -> dict[int, str]:
    """Where the curriculum let harder cases in, and which."""
    return {place: now for (_, before), (place, now) in pairwise(_reached(stage)) if now != before}


def _reached(stage: Stage) -> list[tuple[int, str]]:
    return [(place, row["reached"]) for place, row in stage.items() if "reached" in row]


def _shared(several: Sequence[Series]) -> list[int]:
    return sorted(set.intersection(*(set(each) for each in several))) if several else []


def _rows(file: Path) -> list[Row]:
    if not file.is_file():
        raise BadInput(f"there are no metrics {str(file)!r}; copy them from a run's metrics.jsonl")
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    if not lines:
        raise BadInput(f"{str(file)!r} is empty; copy the metrics of a run that has had an iteration")
    rows = [_row(line, f"{str(file)!r}, line {number}") for number, line in enumerate(lines, 1)]
    for before, row in pairwise(row["iteration"] for row in rows):
        if row <= before:
            raise BadInput(f"{str(file)!r} has iteration {row} after {before}: it is of more than one run; {_AGAIN}")
    return rows


def _row(line: str, where: str) -> Row:
    row = _parsed(line, where, _AGAIN)
    if not isinstance(row.get("iteration"), int):
        raise BadInput(f"{where} has no number of an iteration: {line[:40]!r}; {_AGAIN}")
    for key, value in row.items():
        if key != "reached":
            _demand_number(value, f"{key!r}, {where},", _AGAIN)
    return row


def _baselines(file: Path) -> Mapping[str, Mapping[str, float]]:
    if not file.is_file():
        return {}
    found = _parsed(file.read_text(encoding="utf-8", errors="replace"), repr(str(file)), _MEASURED_AGAIN)
    for name, reached in found.items():
        for key in ("sce", "success"):
            value = reached.get(key) if isinstance(reached, dict) else None
            _demand_number(value, f"{key!r} of {name!r} in {str(file)!r}", _MEASURED_AGAIN)
    return found


def _parsed(text: str, where: str, remedy: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise BadInput(f"{where} is not a JSON object: {text[:40]!r}; {remedy}")
    return found


def _demand_number(value: object, what: str, remedy: str) -> None:
    if not isinstance(value, int | float):
        raise BadInput(f"{what} is {value!r}, not a number; {remedy}")
