"""How a world with a fault differs from a healthy one: one class for each way of going wrong.

An effect changes what services meet (slower work, refused calls, held connections), never what is logged or
counted: symptoms are left to the simulation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from TokenOptEnv.task_defs.incident.generator.simulation.kernel import Process
from TokenOptEnv.task_defs.incident.generator.simulation.records import Request

if TYPE_CHECKING:
    from TokenOptEnv.task_defs.incident.generator.simulation.system import System

_NEVER_MS = 1 << 40


@dataclass(frozen=True)
class Effect:
    """The healthy world; `culprit` is where things go wrong in the others, from `since_ms` on."""

    culprit: str
    since_ms: int

    def attach(self, system: System) -> None:
        """Start processes of the fault's own."""

    def refuses(self, service: str, host: int, request: Request, at_ms: int) -> bool:
        return False

    def factor(self, service: str, host: int, at_ms: int, busy: int) -> float:
        """How many times longer work takes, with so many calls open at that service."""
        return 1.0

    def retries(self, service: str, target: str, at_ms: int) -> int:
        return 0

    def load_ms(self, service: str, at_ms: int) -> int | None:
        """What loading a cold key takes; nothing while the cache is warm."""
        return None

    def locked_ms(self, service: str, request: Request, at_ms: int) -> int | None:
        """How long a request waits in vain for what another party holds; nothing if it need not."""
        return None

    def stuck_ms(self, worker: str, request: Request, at_ms: int) -> int | None:
        """How long a worker tries this item before it gives it up and begins again; nothing if it goes well."""
        return None


@dataclass(frozen=True)
class RefusingHosts(Effect):
    """Some hosts answer with errors, one more every `step_ms`: a rollout, a certificate, a drifted setting."""

    hosts: int = 1
    step_ms: int = 0
    share: int = 100
    """Of requests, in percent; always the same ones."""

    def refuses(self, service: str, host: int, request: Request, at_ms: int) -> bool:
        if service != self.culprit or host >= self.hosts or at_ms < self.since_ms + host * self.step_ms:
            return False
        return int(request.request_id[:4], 16) % 100 < self.share


@dataclass(frozen=True)
class SlowerWork(Effect):
    """Work takes longer and longer until `full_ms` after the start: a leak, a neighbour, a consumer's heavy batch."""

    full_ms: int = 1
    most: float = 60.0
    hosts: int = 99

    def factor(self, service: str, host: int, at_ms: int, busy: int) -> float:
        if service != self.culprit or host >= self.hosts or at_ms < self.since_ms:
            return 1.0
        return 1.0 + (self.most - 1.0) * min(1.0, (at_ms - self.since_ms) / self.full_ms)


@dataclass(frozen=True)
class HeldConnections(Effect):
    """Something takes a connection of the culprit's pool every `every_ms` and does not give it back."""

    every_ms: int = 60_000

    def attach(self, system: System) -> None:
        system.kernel.start(self._hold(system), self.since_ms)

    def _hold(self, system: System) -> Process:
        pool = system.pools[self.culprit]
        for _ in range(pool.size):
            yield from pool.take(_NEVER_MS)
            yield self.every_ms


@dataclass(frozen=True)
class ColdCache(Effect):
    """From the start on every read must be loaded, and loading is slow because all do it at once."""

    slow_ms: int = 4500

    def load_ms(self, service: str, at_ms: int) -> int | None:
        return self.slow_ms if service == self.culprit and at_ms >= self.since_ms else None


@dataclass(frozen=True)
class LockedWork(Effect):
    """Some of the work waits for what another party holds, in vain, and is cancelled in the end."""

    wait_ms: int = 5000
    share: int = 50

    def locked_ms(self, service: str, request: Request, at_ms: int) -> int | None:
        if service != self.culprit or at_ms < self.since_ms or int(request.request_id[:4], 16) % 100 >= self.share:
            return None
        return self.wait_ms


@dataclass(frozen=True)
class StuckItem(Effect):
    """The first item that a worker takes after the start never goes through, and nothing passes it."""

    try_ms: int = 9000

    def stuck_ms(self, worker: str, request: Request, at_ms: int) -> int | None:
        return self.try_ms if worker == self.culprit and at_ms >= self.since_ms else None


@dataclass(frozen=True)
class Repetition(Effect):
    """The culprit repeats calls to `target` many times; one slow moment of the target, and it never comes to rest."""

    target: str = ""
    times: int = 8
    slow_after_ms: int = 90_000
    slow_for_ms: int = 60_000
    most: float = 90.0

    def retries(self, service: str, target: str, at_ms: int) -> int:
        return self.times if service == self.culprit and target == self.target and at_ms >= self.since_ms else 0

    def factor(self, service: str, host: int, at_ms: int, busy: int) -> float:
        """Slow while it lasts, and afterwards whenever another call is open."""
        slow_ms = self.since_ms + self.slow_after_ms
        if service != self.target or at_ms < slow_ms:
            return 1.0
        return self.most if at_ms < slow_ms + self.slow_for_ms or busy > 1 else 1.0


@dataclass(frozen=True)
class Exercise(Effect):
    """A planned exercise: its own driver's requests are refused for a while, customers' are not."""

    until_ms: int = 0

    def refuses(self, service: str, host: int, request: Request, at_ms: int) -> bool:
        return service == self.culprit and request.planned and self.since_ms <= at_ms < self.until_ms
