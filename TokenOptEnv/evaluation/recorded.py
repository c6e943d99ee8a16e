"""Traces as they are read back from files."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from TokenOptEnv.errors import BadInput
from TokenOptEnv.traces import TraceHeader, TraceStep
from TokenOptEnv.version import TRACE_VERSION


class Recorded(NamedTuple):
    header: TraceHeader
    steps: tuple[TraceStep, ...]

    @property
    def cost_nano_usd(self) -> int:
        return sum(entry.nano_usd for step in self.steps for entry in step.entries)

    @property
    def success(self) -> bool:
        score = self.steps[-1].score if self.steps else None
        return score is not None and score.success


def read_trace(file: Path) -> Recorded:
    try:
        text = file.read_text(encoding="utf-8")
    except (UnicodeDecodeError, IsADirectoryError):
        raise BadInput(f"{str(file)!r} is no trace; name a file of a run's folder traces/") from None
    return parse_trace(text, str(file))


def parse_trace(text: str, name: str) -> Recorded:
    head, *lines = text.splitlines() or [""]
    try:
        header = TraceHeader.model_validate_json(head)
    except ValidationError:
        raise BadInput(f"{name!r} is no trace: its first line is no header; name a file of traces/") from None
    if header.trace_version != TRACE_VERSION:
        raise BadInput(f"{name!r} is a trace of version {header.trace_version}; this reads version {TRACE_VERSION}")
    steps = []
    for number, line in enumerate(lines, start=2):
        try:
            steps.append(TraceStep.model_validate_json(line))
        except ValidationError:
            raise BadInput(f"line {number} of trace {name!r} cannot be read; it is damaged or cut off") from None
    return Recorded(header, tuple(steps))
