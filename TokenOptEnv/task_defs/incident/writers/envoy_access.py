"""Envoy's access log: response flags, duration, request id, upstream host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.writers.clock import Clock, Window
from TokenOptEnv.task_defs.incident.writers.entries import Entry, ticks


@dataclass(frozen=True)
class Call:
    """One line; `flags` is "-" where nothing went wrong (UT: the upstream timed out, DC: the client left)."""

    request: str
    status: int
    took_ms: int
    request_id: str
    upstream: str
    flags: str = "-"
    bytes_out: int = 0


@dataclass(frozen=True)
class EnvoyLog:
    clock: Clock

    def line(self, at_ms: int, call: Call) -> Entry:
        return Entry(
            at_ms,
            f'[{self.clock.iso(at_ms)}] "{call.request} HTTP/2" {call.status} {call.flags} {call.bytes_out} '
            f'{call.took_ms} "{call.request_id}" "{call.upstream}"',
        )

    def at(self, time: str, call: Call) -> Entry:
        """A line written by hand."""
        return self.line(self.clock.at(time), call)


@dataclass(frozen=True)
class Route:
    """A kind of request; `{id}` in its path is drawn."""

    method: str
    path: str
    upstream: str
    ms: tuple[int, int]
    statuses: tuple[tuple[int, str], ...] = ((200, "-"),)
    """Each with its flags; drawn evenly, so a rare one is written rarely."""


def requests(stream: Stream, log: EnvoyLog, window: Window, every_ms: int, routes: Sequence[Route]) -> Iterator[Entry]:
    for at_ms in ticks(stream, window, every_ms):
        route = stream.choice(routes)
        status, flags = stream.choice(route.statuses)
        call = Call(
            request=f"{route.method} {route.path.format(id=stream.hex(8))}",
            status=status,
            took_ms=stream.integer(*route.ms),
            request_id=stream.hex(8),
            upstream=route.upstream,
            flags=flags,
            bytes_out=stream.integer(90, 4000) if status < 500 else 24,
        )
        yield log.line(at_ms, call)
