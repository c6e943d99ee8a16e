"""nginx's access log with an operator's own fields: tenant, request id, request and upstream time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.writers.clock import Clock, Window
from TokenOptEnv.task_defs.incident.writers.entries import Entry, ticks


@dataclass(frozen=True)
class Hit:
    client: str
    request: str
    status: int
    bytes_out: int
    tenant: str
    request_id: str
    took_ms: int


@dataclass(frozen=True)
class NginxLog:
    clock: Clock

    def line(self, at_ms: int, hit: Hit) -> Entry:
        seconds = f"{hit.took_ms // 1000}.{hit.took_ms % 1000:03d}"
        return Entry(
            at_ms,
            f'{hit.client} - - [{self.clock.common(at_ms)}] "{hit.request} HTTP/1.1" {hit.status} {hit.bytes_out} '
            f"ten={hit.tenant} rid={hit.request_id} rt={seconds}",
        )

    def at(self, time: str, hit: Hit) -> Entry:
        """A line written by hand."""
        return self.line(self.clock.at(time), hit)


@dataclass(frozen=True)
class Visitors:
    """A population of tenants and what they ask for; `{id}` in a request is drawn."""

    network: str
    hosts: tuple[int, int]
    tenants: tuple[int, int]
    requests: tuple[str, ...]
    ms: tuple[int, int]
    statuses: tuple[int, ...] = (200,)


def hits(stream: Stream, log: NginxLog, window: Window, every_ms: int, visitors: Sequence[Visitors]) -> Iterator[Entry]:
    for at_ms in ticks(stream, window, every_ms):
        kind = stream.choice(visitors)
        status = stream.choice(kind.statuses)
        hit = Hit(
            client=f"{kind.network}.{stream.integer(*kind.hosts)}",
            request=stream.choice(kind.requests).format(id=stream.hex(6)),
            status=status,
            bytes_out=stream.integer(240, 5200) if status < 400 else stream.integer(120, 200),
            tenant=f"t-{stream.integer(*kind.tenants)}",
            request_id=stream.hex(8),
            took_ms=stream.integer(*kind.ms),
        )
        yield log.line(at_ms, hit)
