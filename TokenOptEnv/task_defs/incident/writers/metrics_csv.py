"""A metrics export: one row per step of time, one column per series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from TokenOptEnv.task_defs.incident.writers.clock import Clock


@dataclass(frozen=True)
class Series:
    """One value per row."""

    name: str
    values: tuple[int, ...]


def table(clock: Clock, start: str, step_minutes: int, series: Sequence[Series]) -> str:
    lines = [",".join(["minute", *(one.name for one in series)])]
    for row, cells in enumerate(zip(*(one.values for one in series), strict=True)):
        at_ms = clock.at(start) + row * step_minutes * 60_000
        lines.append(",".join([clock.minute(at_ms), *(str(cell) for cell in cells)]))
    return "\n".join(lines) + "\n"
