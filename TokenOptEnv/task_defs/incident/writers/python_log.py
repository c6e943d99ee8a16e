"""Lines as Python's `logging` prints them with a common format: time with a comma, logger, level, message."""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.task_defs.incident.writers.clock import Clock
from TokenOptEnv.task_defs.incident.writers.entries import Entry


@dataclass(frozen=True)
class PythonLog:
    clock: Clock

    def line(self, at_ms: int, level: str, logger: str, message: str, **fields: str | int) -> Entry:
        named = {"WARN": "WARNING"}.get(level, level)
        pairs = "".join(f" {name}={value}" for name, value in fields.items())
        return Entry(at_ms, f"{self.clock.spaced(at_ms, ',')} - {logger} - {named} - {message}{pairs}")
