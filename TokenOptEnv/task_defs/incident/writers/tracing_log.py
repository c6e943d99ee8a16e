"""Lines as Rust's `tracing` prints them: level, module path, message, then its fields."""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.task_defs.incident.writers.clock import Clock
from TokenOptEnv.task_defs.incident.writers.entries import Entry


@dataclass(frozen=True)
class TracingLog:
    clock: Clock

    def line(self, at_ms: int, level: str, module: str, message: str, **fields: str | int) -> Entry:
        pairs = "".join(f" {name}={value}" for name, value in fields.items())
        return Entry(at_ms, f"{self.clock.iso(at_ms)} {level:>5} {module}: {message}{pairs}")
