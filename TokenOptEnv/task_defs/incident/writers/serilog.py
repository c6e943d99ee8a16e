"""Lines as .NET's Serilog prints them to a console: time of day, three-letter level, source context, properties."""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.task_defs.incident.writers.clock import Clock
from TokenOptEnv.task_defs.incident.writers.entries import Entry

_SHORT = {"DEBUG": "DBG", "INFO": "INF", "WARN": "WRN", "ERROR": "ERR"}


@dataclass(frozen=True)
class Serilog:
    clock: Clock

    def line(self, at_ms: int, level: str, source: str, message: str, **fields: str | int) -> Entry:
        """The third letter of a level is what tells; warnings and errors are named in full by the sink's template."""
        named = level if level in ("WARN", "ERROR") else _SHORT[level]
        pairs = ", ".join(f"{name.title()}: {value}" for name, value in fields.items())
        return Entry(at_ms, f"[{self.clock.second(at_ms)} {named}] <{source}> {message} {{{pairs}}}")
