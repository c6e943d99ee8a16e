"""The suspects of a case: one is guilty, the others have alibis, and all are told in the same form.

A planned exercise is always one of them. Where nothing is at fault it is the "guilty" one, so that such a case
is written by the same lines of code, with the same papers, as any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from TokenOptEnv.config import Difficulty
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.generation import Outline, Split
from TokenOptEnv.task_defs.incident.generator.faults import HELD_OUT, faults_of, kinds
from TokenOptEnv.task_defs.incident.generator.faults.kind import FaultKind, Seat, Wording
from TokenOptEnv.task_defs.incident.generator.redraw import Redraw
from TokenOptEnv.task_defs.incident.generator.simulation.topology import Kind, Service, Topology
from TokenOptEnv.task_defs.incident.vocabulary import NO_SERVICE, NO_TRIGGER, FaultClass

SUSPECTS = {Difficulty.EASY: 3, Difficulty.MEDIUM: 3, Difficulty.HARD: 5, Difficulty.MARATHON: 5}
"""Besides the exercise."""
_HELD_OUT_SHARE = 0.5
_COMPARABLE = (Seat.MIDDLE, Seat.WORKER)
"""Seats whose faults show in the hosts' own figures, so that a survey of hosts can find them."""


class Alibi(Enum):
    LATER = auto()
    """Came when the trouble had long begun."""
    ELSEWHERE = auto()
    """Never reached this cell."""
    OLD = auto()
    """Has been so for days."""
    UNDONE = auto()
    """Was taken back before."""
    WITHDRAWN = auto()
    """Was announced and not done."""


@dataclass(frozen=True, slots=True)
class Suspect:
    tag: str
    """Names its facts and decoys."""
    kind: FaultKind
    wording: Wording
    service: Service
    victim: Service
    """Who suffers; the service itself where it is called directly."""
    alibi: Alibi | None
    """None: guilty."""

    @property
    def is_exercise(self) -> bool:
        return self.kind.fault_class is FaultClass.NO_FAULT

    @property
    def answer_service(self) -> str:
        return NO_SERVICE if self.is_exercise else self.service.name

    def answer_trigger(self, trigger: str) -> str:
        return NO_TRIGGER if self.is_exercise else trigger


@dataclass(frozen=True)
class Cast:
    guilty: Suspect
    suspects: tuple[Suspect, ...]
    """All of them, in an order that says nothing."""

    @property
    def innocents(self) -> tuple[Suspect, ...]:
        return tuple(suspect for suspect in self.suspects if suspect is not self.guilty)


def draw_cast(stream: Stream, outline: Outline, topology: Topology) -> Cast:
    split = outline.split
    available = list(faults_of(split))
    others = stream.shuffled(available)
    taken: list[str] = [topology.gateway.name, topology.front.name]
    members: list[tuple[FaultKind, Service, Service]] = []
    wanted = SUSPECTS[outline.difficulty]
    if not outline.no_fault:
        kind = _guilty_kind(stream, outline)
        free = _seats(topology, kind.seat, taken)
        if not free:
            raise Redraw("no place for this fault")
        service, victim = stream.choice(free)
        members.append((kind, service, victim))
        taken.append(service.name)
        others = [other for other in others if other is not kind]
        if victim is not service:
            partner = next(other for other in others if other.seat is Seat.MIDDLE)
            members.append((partner, victim, victim))
            taken.append(victim.name)
            others.remove(partner)
    for kind in others:
        if len(members) == wanted:
            break
        free = _seats(topology, kind.seat, taken)
        if free:
            service, victim = stream.choice(free)
            members.append((kind, service, victim))
            taken.append(service.name)
    if len(members) < wanted:
        raise Redraw("too few places for suspects")
    return _assembled(stream, outline, topology, members)


def _assembled(
    stream: Stream, outline: Outline, topology: Topology, members: list[tuple[FaultKind, Service, Service]]
) -> Cast:
    alibis = stream.shuffled(list(Alibi)) + stream.shuffled([Alibi.ELSEWHERE, Alibi.OLD])
    drawn: list[Suspect] = []
    for place, (kind, service, victim) in enumerate(members):
        is_guilty = place == 0 and not outline.no_fault
        wording = stream.choice(kind.wordings(outline.split))
        drawn.append(Suspect(f"s{place}", kind, wording, service, victim, None if is_guilty else alibis[place]))
    exercise = kinds()[FaultClass.NO_FAULT]
    middles = {service.name for service in topology.middle}
    places = [suspect.service for suspect in drawn if suspect.service.name in middles]
    if not places:
        raise Redraw("no place for an exercise")
    place_of = stream.choice(places)
    announced = stream.choice((Alibi.ELSEWHERE, Alibi.WITHDRAWN))
    drawn.append(
        Suspect(
            f"s{len(drawn)}",
            exercise,
            stream.choice(exercise.wordings(outline.split)),
            place_of,
            place_of,
            None if outline.no_fault else announced,
        )
    )
    guilty = drawn[-1] if outline.no_fault else drawn[0]
    return Cast(guilty, tuple(stream.shuffled(drawn)))


def _guilty_kind(stream: Stream, outline: Outline) -> FaultKind:
    candidates = [kind for kind in faults_of(outline.split) if outline.wide_facts is None or kind.seat in _COMPARABLE]
    if outline.split is Split.TEST:
        held_out = stream.chance(_HELD_OUT_SHARE)
        candidates = [kind for kind in candidates if (kind.fault_class in HELD_OUT) == held_out]
    return stream.choice(candidates)


def _seats(topology: Topology, seat: Seat, taken: list[str]) -> list[tuple[Service, Service]]:
    """Where a fault of this seat can be, with who suffers from it there."""
    middle = topology.middle
    names = {service.name for service in middle}
    match seat:
        case Seat.MIDDLE:
            found = [(service, service) for service in middle]
        case Seat.CALLER:
            found = [
                (service, topology.services[call.target])
                for service in middle
                for call in service.calls
                if call.target in names
            ]
        case Seat.WORKER:
            found = [(topology.services[v.worker], v) for v in middle if v.worker is not None]
        case Seat.BATCH:
            found = [(service, victim) for service in topology.of_kind(Kind.BATCH) for victim in middle]
        case Seat.RESOLVER:
            found = [(service, victim) for service in topology.of_kind(Kind.RESOLVER) for victim in middle]
    return [pair for pair in found if pair[0].name not in taken]
