"""The services at work: requests come in, wait for workers, connections, queues and each other, and end well or not.

Nothing here knows what is wrong. An `Effect` says how the world differs from a healthy one; who times out, when,
and two services away from what, follows from waiting in line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from enum import StrEnum

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.generator.simulation.effect import Effect
from TokenOptEnv.task_defs.incident.generator.simulation.kernel import Kernel, Process, Signal, Slots, Wanted, Within
from TokenOptEnv.task_defs.incident.generator.simulation.records import Hop, Request
from TokenOptEnv.task_defs.incident.generator.simulation.topology import Call, Kind, Service, Topology

_POOL_SIZE = 6
_WORKERS_PER_HOST = 4
_QUEUE_ROOM = 10
_POOL_PATIENCE_MS = 2000
_REFUSED_AFTER_MS = (6, 28)
_MISS_SHARE = 0.1
_BREATH_MS = 40
"""Between a failed call and its repetition."""


class End(StrEnum):
    OK = "ok"
    REFUSED = "refused"
    """Answered at once, with an error."""
    TIMED_OUT = "timed out"
    """Not answered in time."""
    STARVED = "starved"
    """Gave up waiting for something of its own: a connection, a worker, room in a queue."""


@dataclass(frozen=True, slots=True)
class Outcome:
    end: End
    host: int
    blamed: str | None = None
    """The service whose answer was missing."""
    blamed_host: int = 0
    tries: int = 1
    waited_ms: int = 0


class Queue:
    def __init__(self, kernel: Kernel, room: int) -> None:
        self._kernel = kernel
        self.room = room
        self.items: deque[Request] = deque()
        self._arrived = Signal()
        self._left: deque[Signal] = deque()

    def put(self, request: Request, patience_ms: int) -> Generator[Wanted, bool, bool]:
        if len(self.items) >= self.room:
            turn = Signal()
            self._left.append(turn)
            if not (yield Within(turn, patience_ms)) and not turn.fired:
                self._left.remove(turn)
                return False
        self.items.append(request)
        if not self._arrived.fired:
            self._kernel.fire(self._arrived)
        return True

    def get(self) -> Generator[Wanted, bool, Request]:
        while not self.items:
            self._arrived = Signal()
            yield self._arrived
        request = self.items.popleft()
        if self._left:
            self._kernel.fire(self._left.popleft())
        return request


class System:
    def __init__(self, topology: Topology, effect: Effect, stream: Stream) -> None:
        self.topology = topology
        self.effect = effect
        self.kernel = Kernel()
        self.hops: list[Hop] = []
        self._stream = stream
        self._turns: dict[str, int] = {}
        services = topology.services.values()
        self.slots = {s.name: Slots(self.kernel, _WORKERS_PER_HOST * len(s.hosts)) for s in services}
        self.pools = {s.name: Slots(self.kernel, _POOL_SIZE) for s in services if s.store is not None}
        self.loaders = {s.name: Slots(self.kernel, 1) for s in services if s.cache is not None}
        self.queues = {s.name: Queue(self.kernel, _QUEUE_ROOM) for s in services if s.kind is Kind.WORKER}
        for name in self.queues:
            self.kernel.start(self._work_off(topology.services[name]))
        effect.attach(self)

    def feed(self, requests: list[Request]) -> None:
        for request in requests:
            self.kernel.start(self._enter(request), request.at_ms)

    def _enter(self, request: Request) -> Process:
        gateway = self.topology.gateway
        began_ms, call = self.kernel.now_ms, gateway.calls[0]
        outcome = yield from self._call(gateway, call, request)
        self._note(gateway, request, began_ms, outcome)

    def _call(self, caller: Service, call: Call, request: Request) -> Generator[Wanted, bool, Outcome]:
        """What the caller makes of it: its own timeout and its own repetitions."""
        target = self.topology.services[call.target]
        most = 1 + self.effect.retries(caller.name, target.name, self.kernel.now_ms)
        tries, host = 0, 0
        while True:
            tries += 1
            host = self._next_host(target)
            answered = self.kernel.start(self._serve(target, host, request))
            if not (yield Within(answered, call.timeout_ms)) and not answered.fired:
                end = End.TIMED_OUT
            else:
                end = End.OK if answered.value is End.OK else End.REFUSED
            if end is End.OK or tries >= most:
                break
            yield _BREATH_MS
        blamed = None if end is End.OK else target.name
        return Outcome(end, 0, blamed, host, tries)

    def _next_host(self, service: Service) -> int:
        turn = self._turns.get(service.name, 0)
        self._turns[service.name] = turn + 1
        return turn % len(service.hosts)

    def _serve(self, service: Service, host: int, request: Request) -> Generator[Wanted, bool, End]:
        began_ms = self.kernel.now_ms
        if self.effect.refuses(service.name, host, request, began_ms):
            yield self._stream.integer(*_REFUSED_AFTER_MS)
            outcome = Outcome(End.REFUSED, host)
        else:
            outcome = yield from self._do(service, host, request)
        self._note(service, request, began_ms, outcome)
        return outcome.end

    def _do(self, service: Service, host: int, request: Request) -> Generator[Wanted, bool, Outcome]:
        slots = self.slots[service.name]
        if not (yield from slots.take(_POOL_PATIENCE_MS)):
            return Outcome(End.STARVED, host, waited_ms=_POOL_PATIENCE_MS)
        try:
            spread = self._stream.integer(70, 150)
            factor = self.effect.factor(service.name, host, self.kernel.now_ms, slots.used)
            yield max(1, int(service.work_ms * spread * factor) // 100)
            for need in (self._read_cached, self._use_store, self._publish):
                waited_ms = yield from need(service, request)
                if waited_ms is not None:
                    return Outcome(End.STARVED, host, waited_ms=waited_ms)
            tries = 1
            for call in service.calls:
                if self._stream.random() < call.share:
                    outcome = yield from self._call(service, call, request)
                    tries = max(tries, outcome.tries)
                    if outcome.end is not End.OK:
                        return Outcome(outcome.end, host, outcome.blamed, outcome.blamed_host, outcome.tries)
            return Outcome(End.OK, host, tries=tries)
        finally:
            slots.give_back()

    def _read_cached(self, service: Service, request: Request) -> Generator[Wanted, bool, int | None]:
        """A miss is loaded by one loader per service; nothing, or how long was waited in vain."""
        if service.cache is None:
            return None
        load_ms = self.effect.load_ms(service.name, self.kernel.now_ms)
        if load_ms is None:
            if self._stream.random() < _MISS_SHARE:
                yield self._stream.integer(15, 60)
            return None
        loader = self.loaders[service.name]
        if not (yield from loader.take(_POOL_PATIENCE_MS)):
            return _POOL_PATIENCE_MS
        yield load_ms
        loader.give_back()
        return None

    def _use_store(self, service: Service, request: Request) -> Generator[Wanted, bool, int | None]:
        if service.store is None:
            return None
        pool = self.pools[service.name]
        if not (yield from pool.take(_POOL_PATIENCE_MS)):
            return _POOL_PATIENCE_MS
        locked_ms = self.effect.locked_ms(service.name, request, self.kernel.now_ms)
        yield self._stream.integer(4, 30) if locked_ms is None else locked_ms
        pool.give_back()
        return locked_ms

    def _publish(self, service: Service, request: Request) -> Generator[Wanted, bool, int | None]:
        if service.worker is None:
            return None
        if not (yield from self.queues[service.worker].put(request, _POOL_PATIENCE_MS)):
            return _POOL_PATIENCE_MS
        return None

    def _work_off(self, worker: Service) -> Process:
        """The hosts of a worker share one lane: what one of them is stuck on, all of them are."""
        queue = self.queues[worker.name]
        while True:
            request = yield from queue.get()
            began_ms, host = self.kernel.now_ms, self._next_host(worker)
            end = End.OK
            while (stuck_ms := self.effect.stuck_ms(worker.name, request, self.kernel.now_ms)) is not None:
                yield stuck_ms
                self._note(worker, request, began_ms, Outcome(End.REFUSED, host))
                began_ms, host = self.kernel.now_ms, self._next_host(worker)
            factor = self.effect.factor(worker.name, host, self.kernel.now_ms, 1)
            yield max(1, int(worker.work_ms * self._stream.integer(70, 150) * factor) // 100)
            self._note(worker, request, began_ms, Outcome(end, host))

    def _note(self, service: Service, request: Request, began_ms: int, outcome: Outcome) -> None:
        self.hops.append(
            Hop(
                request=request,
                service=service.name,
                host=outcome.host,
                began_ms=began_ms,
                ended_ms=self.kernel.now_ms,
                end=outcome.end.value,
                blamed=outcome.blamed,
                blamed_host=outcome.blamed_host,
                tries=outcome.tries,
                waited_ms=outcome.waited_ms,
            )
        )
