"""A random system of services: who calls whom, through which alias, with what behind it.

Every service that the front calls has the same furniture (several hosts, a pool to a store, a cache, often a
queue), so that any fault can live in any of them and a name never tells what may be wrong with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from TokenOptEnv.config import Difficulty
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.generator.stock.domain import Domain, Part


class Kind(Enum):
    GATEWAY = auto()
    API = auto()
    LEAF = auto()
    """Called by APIs, calls nobody."""
    WORKER = auto()
    """Takes from a queue."""
    BATCH = auto()
    """Runs by itself on the hosts of others."""
    RESOLVER = auto()
    STORE = auto()
    CACHE = auto()


@dataclass(frozen=True, slots=True)
class Host:
    name: str
    address: str


@dataclass(frozen=True, slots=True)
class Call:
    target: str
    share: float
    timeout_ms: int


@dataclass(frozen=True, slots=True)
class Service:
    name: str
    kind: Kind
    alias: str
    """What its callers' configuration calls it."""
    does: str
    """What one unit of its work is called in its log."""
    hosts: tuple[Host, ...]
    work_ms: int
    calls: tuple[Call, ...] = ()
    store: str | None = None
    cache: str | None = None
    worker: str | None = None
    """Who takes what this service puts on its queue."""


@dataclass(frozen=True)
class Topology:
    cell: str
    other_cells: tuple[str, ...]
    gateway: Service
    front: Service
    services: dict[str, Service]
    """All of them by name, gateway and front included."""

    def of_kind(self, kind: Kind) -> tuple[Service, ...]:
        return tuple(service for service in self.services.values() if service.kind is kind)

    @property
    def middle(self) -> tuple[Service, ...]:
        """What the front calls."""
        return tuple(self.services[call.target] for call in self.front.calls)


@dataclass(frozen=True, slots=True)
class Extent:
    """How many of each kind a difficulty has: at least, at most."""

    middle: tuple[int, int]
    leaves: tuple[int, int]
    workers: tuple[int, int]
    stores: tuple[int, int]
    batches: int


EXTENTS = {
    Difficulty.EASY: Extent((3, 3), (0, 0), (1, 1), (1, 1), 1),
    Difficulty.MEDIUM: Extent((4, 4), (1, 3), (1, 2), (1, 2), 1),
    Difficulty.HARD: Extent((6, 8), (4, 14), (2, 4), (2, 4), 2),
    Difficulty.MARATHON: Extent((6, 7), (4, 10), (2, 3), (2, 3), 2),
}
_MIDDLE_TIMEOUT_MS = (1200, 1500, 1800, 2000)
_LEAF_TIMEOUT_MS = 800


def draw_topology(stream: Stream, domain: Domain, extent: Extent) -> Topology:
    cells = stream.shuffled(domain.cells)
    network = f"10.{stream.integer(16, 118)}"
    drawn = _Drawer(stream, network)
    middles = stream.shuffled(domain.apis)[: stream.integer(*extent.middle)]
    leaves = stream.shuffled([part for part in domain.apis + domain.others if part not in middles])
    leaves = leaves[: stream.integer(*extent.leaves)]
    stores = [drawn.service(part, Kind.STORE, 2) for part in _some(stream, domain.stores, extent.stores)]
    caches = [drawn.service(part, Kind.CACHE, 2) for part in stream.shuffled(domain.caches)[:1]]
    workers = [drawn.service(part, Kind.WORKER, 2) for part in _some(stream, domain.workers, extent.workers)]
    batches = [drawn.service(part, Kind.BATCH, 1) for part in stream.shuffled(domain.batches)[: extent.batches]]
    resolver = drawn.service(stream.choice(domain.resolvers), Kind.RESOLVER, 2)
    low = [drawn.service(part, Kind.LEAF, stream.integer(1, 2)) for part in leaves]
    apis: list[Service] = []
    for place, part in enumerate(middles):
        calls = [Call(leaf.name, 0.5, _LEAF_TIMEOUT_MS) for leaf in _share_out(low, place, len(middles))]
        if place == 0:
            calls.append(Call(middles[-1].name, 0.8, stream.choice(_MIDDLE_TIMEOUT_MS)))
        apis.append(
            drawn.service(
                part,
                Kind.API,
                stream.integer(3, 4),
                calls=tuple(calls),
                store=stores[place % len(stores)].name,
                cache=caches[0].name,
                worker=workers[place % len(workers)].name if place <= len(workers) else None,
            )
        )
    front_calls = tuple(Call(api.name, 0.85, stream.choice(_MIDDLE_TIMEOUT_MS)) for api in stream.shuffled(apis))
    front = drawn.service(domain.front, Kind.API, 3, calls=front_calls)
    gateway = drawn.service(domain.gateway, Kind.GATEWAY, 2, calls=(Call(front.name, 1.0, 5000),))
    everyone = [gateway, front, *apis, *low, *workers, *batches, resolver, *stores, *caches]
    return Topology(
        cell=cells[0],
        other_cells=tuple(cells[1:]),
        gateway=gateway,
        front=front,
        services={service.name: service for service in everyone},
    )


def _some(stream: Stream, parts: tuple[Part, ...], bounds: tuple[int, int]) -> list[Part]:
    return stream.shuffled(parts)[: stream.integer(*bounds)]


def _share_out(leaves: list[Service], place: int, ways: int) -> list[Service]:
    """At most two for each, so that a request does not touch everything."""
    return leaves[place::ways][:2]


class _Drawer:
    """Gives services their hosts, with addresses of one network."""

    def __init__(self, stream: Stream, network: str) -> None:
        self._stream = stream
        self._network = network
        self._subnets = 0

    def service(
        self,
        part: Part,
        kind: Kind,
        hosts: int,
        calls: tuple[Call, ...] = (),
        store: str | None = None,
        cache: str | None = None,
        worker: str | None = None,
    ) -> Service:
        self._subnets += 1
        first = self._stream.integer(11, 80)
        short = "".join(word[0] for word in part.name.split("-")) if "-" in part.name else part.name[:3]
        return Service(
            name=part.name,
            kind=kind,
            alias=part.alias,
            does=part.does,
            hosts=tuple(
                Host(f"{short}{self._subnets}-{n + 1}", f"{self._network}.{self._subnets}.{first + n}")
                for n in range(hosts)
            ),
            work_ms=self._stream.integer(12, 45),
            calls=calls,
            store=store,
            cache=cache,
            worker=worker,
        )
