"""HAProxy's HTTP log: frontend, backend and server, timers, status, termination state, captured request id."""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.task_defs.incident.writers.clock import Clock
from TokenOptEnv.task_defs.incident.writers.entries import Entry


@dataclass(frozen=True)
class Passed:
    client: str
    backend: str
    server: str
    took_ms: int
    status: int
    bytes_out: int
    request_id: str
    request: str
    state: str = "----"
    """`sH--`: the server did not answer in time; `CD--`: the client left."""


@dataclass(frozen=True)
class HaproxyLog:
    clock: Clock

    def line(self, at_ms: int, passed: Passed) -> Entry:
        return Entry(
            at_ms,
            f"{passed.client} [{self.clock.second(at_ms)}.{at_ms % 1000:03d}] in~ {passed.backend}/{passed.server} "
            f"0/0/1/{passed.took_ms}/{passed.took_ms + 1} {passed.status} {passed.bytes_out} {passed.state} "
            f'{{{passed.request_id}}} "{passed.request} HTTP/1.1"',
        )
