"""One run of a system under load, and what can be read off it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.generator.simulation.effect import Effect
from TokenOptEnv.task_defs.incident.generator.simulation.records import Hop, Request
from TokenOptEnv.task_defs.incident.generator.simulation.system import System
from TokenOptEnv.task_defs.incident.generator.simulation.topology import Topology

MINUTE_MS = 60_000
_SETTLE_MS = 30_000
"""After the last request, so that what is under way can end."""
_BAD_SHARE = 0.2
"""Of a minute's requests: what the page is about."""
SLOW_MS = 1000


@dataclass(frozen=True, slots=True)
class Load:
    """Traffic: how long, how much, by whom. Times count from the beginning of the run."""

    minutes: int
    per_minute: int
    tenants: tuple[str, ...]
    planned_tenants: tuple[str, ...] = ()
    planned_ms: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Run:
    topology: Topology
    minutes: int
    hops: tuple[Hop, ...]
    """In the order in which they ended."""

    @cached_property
    def by_service(self) -> dict[str, tuple[Hop, ...]]:
        sorted_out: dict[str, list[Hop]] = {name: [] for name in self.topology.services}
        for hop in self.hops:
            sorted_out[hop.service].append(hop)
        return {name: tuple(hops) for name, hops in sorted_out.items()}

    @cached_property
    def by_request(self) -> dict[str, tuple[Hop, ...]]:
        sorted_out: dict[str, list[Hop]] = {}
        for hop in self.hops:
            sorted_out.setdefault(hop.request.request_id, []).append(hop)
        return {name: tuple(hops) for name, hops in sorted_out.items()}

    @cached_property
    def entries(self) -> tuple[Hop, ...]:
        """What the gateway saw, by the time the requests came."""
        return tuple(sorted(self.by_service[self.topology.gateway.name], key=lambda hop: hop.began_ms))

    def bad_share(self, minute: int) -> float:
        """Of a minute's requests: how many failed or were slow."""
        seen = [hop for hop in self.entries if hop.began_ms // MINUTE_MS == minute]
        return sum(is_bad(hop) for hop in seen) / len(seen) if seen else 0.0

    @cached_property
    def onset_minute(self) -> int | None:
        """The first minute of which the page would speak, if the next one is bad too."""
        shares = [self.bad_share(minute) for minute in range(self.minutes)]
        return next(
            (n for n in range(self.minutes - 1) if min(shares[n], shares[n + 1]) >= _BAD_SHARE),
            None,
        )


def is_bad(hop: Hop) -> bool:
    return not hop.ok or hop.took_ms > SLOW_MS


def run(stream: Stream, topology: Topology, effect: Effect, load: Load) -> Run:
    system = System(topology, effect, stream)
    system.feed([*_arrivals(stream, load)])
    system.kernel.run(load.minutes * MINUTE_MS + _SETTLE_MS)
    return Run(topology, load.minutes, tuple(system.hops))


def _arrivals(stream: Stream, load: Load) -> Iterable[Request]:
    gap_ms = MINUTE_MS // load.per_minute
    at_ms = 0
    while (at_ms := at_ms + stream.integer(gap_ms // 4, gap_ms * 7 // 4)) < load.minutes * MINUTE_MS:
        yield Request(stream.hex(8), stream.choice(load.tenants), at_ms, planned=False)
    at_ms, end_ms = load.planned_ms
    while load.planned_tenants and (at_ms := at_ms + stream.integer(gap_ms // 3, gap_ms)) < end_ms:
        yield Request(stream.hex(8), stream.choice(load.planned_tenants), at_ms, planned=True)
