"""What a kind of fault is made of: where it can live, what it does to the simulation, and its wordings.

A wording is one complete way to tell it: the change that sets it off, the lines of the faulty service, the advice
in the runbook. Its `topic` recurs in all of them, so that who knows the word can search for it. The same wording
tells an innocent suspect: then the change is there too, and `mild` lines stand where the telling ones would.

Templates may name {svc}, {host}, {cell}, {trigger}, {victim}, {front}, {store}, {cache}, {job}, {ms}, {tries},
{req}, {until}, {low}, {high} and the numbers of the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.generation import Split
from TokenOptEnv.task_defs.incident.generator.simulation.effect import Effect
from TokenOptEnv.task_defs.incident.generator.simulation.topology import Service
from TokenOptEnv.task_defs.incident.vocabulary import FaultClass


class Seat(Enum):
    """Which services a fault can live in."""

    MIDDLE = auto()
    CALLER = auto()
    """A middle service that calls another middle one."""
    WORKER = auto()
    BATCH = auto()
    RESOLVER = auto()


class TriggerKind(Enum):
    DEPLOY = auto()
    CONFIG = auto()
    JOB = auto()
    OBJECT = auto()
    """Something with an id of its own, named in the entry of the job that handled it: a certificate, a message."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where and when a fault is put: the culprit, and who suffers in its stead if it is not called itself."""

    culprit: Service
    victim: Service
    since_ms: int
    minutes: int


@dataclass(frozen=True, slots=True)
class Wording:
    topic: str
    """One or two words, in every line below that is not marked otherwise."""
    trigger: TriggerKind
    change: str
    """The entry in the list of changes."""
    diff: tuple[str, ...]
    in_effect: str
    """What the service prints when the change reaches it; the topic may be missing."""
    telltale: str
    """What it prints when it fails a request, or the item of one."""
    pressure: str
    """What it prints from time to time as things get worse; the topic may be missing."""
    mild: str
    """What the same service prints on a good day."""
    state: str
    """What decides between this remedy and a more obvious one; the topic may be missing."""
    advice: str
    """The runbook's line that fits."""
    remedy: str
    """The answer to what should be done; the topic may be missing."""
    says: str
    """The diagnosis in a few words."""
    victim: str = ""
    """What the victim prints, naming the culprit, where the culprit is not called itself; the topic may be missing."""


@dataclass(frozen=True)
class FaultKind:
    fault_class: FaultClass
    seat: Seat
    effect: Callable[[Spot], Effect]
    train: tuple[Wording, ...]
    test: tuple[Wording, ...]
    grave: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Numbers while it goes wrong: at the beginning and at the end."""
    calm: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """The same numbers on a good day: at least and at most."""
    standing: bool = False
    """What triggers it was there for days and takes effect by the calendar."""

    def wordings(self, split: Split) -> tuple[Wording, ...]:
        return self.test if split is Split.TEST else self.train

    def grave_numbers(self, progress: float) -> dict[str, int]:
        return {name: round(low + (high - low) * progress) for name, (low, high) in self.grave.items()}

    def calm_numbers(self, stream: Stream) -> dict[str, int]:
        return {name: stream.integer(*bounds) for name, bounds in self.calm.items()}
