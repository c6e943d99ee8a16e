"""Lines as Go programs print them through klog: severity, date and source place in front, then a message and pairs."""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.task_defs.incident.writers.clock import Clock
from TokenOptEnv.task_defs.incident.writers.entries import Entry


@dataclass(frozen=True)
class Klog:
    clock: Clock

    def line(self, at_ms: int, level: str, source: str, message: str, **fields: str | int) -> Entry:
        """`E0611 10:31:04.117000    1842 pool.go:88] "message" req="9f…"`."""
        pairs = "".join(f' {name}="{value}"' for name, value in fields.items())
        return Entry(at_ms, f'{level[0]}{self.clock.compact(at_ms)} {source}] "{message}"{pairs}')
