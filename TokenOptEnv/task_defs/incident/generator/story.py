"""What happened: the system, the suspects, the run, and the clock it is told by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TypeVar

from TokenOptEnv.config import Difficulty
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.generation import Outline
from TokenOptEnv.task_defs.incident.generator.cast import Cast, Suspect, draw_cast
from TokenOptEnv.task_defs.incident.generator.faults.exercise import LASTS_MS
from TokenOptEnv.task_defs.incident.generator.faults.kind import Spot
from TokenOptEnv.task_defs.incident.generator.material import Material, material_of
from TokenOptEnv.task_defs.incident.generator.pace import PACES, Pace
from TokenOptEnv.task_defs.incident.generator.papers.style import Style
from TokenOptEnv.task_defs.incident.generator.redraw import Redraw
from TokenOptEnv.task_defs.incident.generator.simulation.records import Hop
from TokenOptEnv.task_defs.incident.generator.simulation.run import MINUTE_MS, Load, Run, run
from TokenOptEnv.task_defs.incident.generator.simulation.topology import EXTENTS, Kind, Topology, draw_topology
from TokenOptEnv.task_defs.incident.generator.stock.domain import Domain
from TokenOptEnv.task_defs.incident.writers.clock import Clock

Streams = Callable[..., Stream]
"""`streams("chatter", name)`: a stream of this attempt for one purpose."""

T = TypeVar("T")

_TENANTS = 14
_PLANNED = 50
"""How many driver ids an exercise has."""


@dataclass(frozen=True)
class Story:
    outline: Outline
    streams: Streams
    pace: Pace
    material: Material
    domain: Domain
    style: Style
    topology: Topology
    cast: Cast
    run: Run
    clock: Clock
    start_ms: int
    """When the run begins, since midnight."""
    since_ms: int
    """When the guilty change took effect, since the run began."""
    planned: tuple[str, str]
    """The first and the last driver id of the exercise."""

    @property
    def onset_ms(self) -> int:
        minute = self.run.onset_minute
        if minute is None:
            raise Redraw("nothing came of the fault")
        return minute * MINUTE_MS

    @property
    def page_ms(self) -> int:
        """The page speaks of two bad minutes."""
        return self.onset_ms + 2 * MINUTE_MS

    @property
    def end_ms(self) -> int:
        return self.pace.minutes * MINUTE_MS

    def at(self, run_ms: int) -> int:
        """Since midnight."""
        return self.start_ms + run_ms

    def minute(self, run_ms: int) -> str:
        return self.clock.minute(self.at(run_ms))

    def second(self, run_ms: int) -> str:
        return self.clock.second(self.at(run_ms))

    def said(self, room: object) -> dict[str, str]:
        """One phrase of each kind, the same throughout the case."""
        draw = self.streams("phrases", type(room).__name__)
        found = {}
        for each in fields(room):  # type: ignore[arg-type]
            options = getattr(room, each.name)
            if isinstance(options, tuple):
                found[each.name] = draw.choice(options)
        return found

    @cached_property
    def lines(self) -> dict[str, str]:
        return self.said(self.material.phrases.lines)

    @cached_property
    def talk(self) -> dict[str, str]:
        return self.said(self.material.phrases.talk)

    @cached_property
    def witness(self) -> Hop:
        """The failed request that the page shows, as the gateway saw it: it failed where the fault is felt."""
        felt = self.cast.guilty.victim.name
        fronts = {hop.request.request_id: hop for hop in self.run.by_service[self.topology.front.name]}
        found = [
            hop
            for hop in self.run.entries
            if not hop.ok
            and self.onset_ms <= hop.began_ms < self.page_ms + 2 * MINUTE_MS
            and fronts[hop.request.request_id].blamed == felt
            and hop.request.planned == self.cast.guilty.is_exercise
        ]
        if len(found) < 2:
            raise Redraw("too few failed requests to show")
        return self.streams("witness").choice(found[: len(found) // 2 + 1])

    def names(self, suspect: Suspect) -> dict[str, str]:
        """What its templates may name, but for the trigger."""
        draw = self.streams("names", suspect.tag)
        stores = self.topology.of_kind(Kind.STORE)
        batches = self.topology.of_kind(Kind.BATCH)
        low, high = self.planned
        return {
            "svc": suspect.service.name,
            "victim": suspect.victim.name,
            "host": draw.choice(suspect.service.hosts).name,
            "cell": self.topology.cell,
            "front": self.topology.front.name,
            "store": suspect.victim.store or stores[0].name,
            "cache": self.topology.of_kind(Kind.CACHE)[0].name,
            "job": draw.choice(batches).name,
            "until": self.clock.iso(self.at(self.since_ms + 95_000))[:-5] + "Z",
            "low": low,
            "high": high,
        }


def draw_story(outline: Outline, attempt: int) -> Story:
    def streams(*purpose: str | int) -> Stream:
        return outline.stream(attempt, *purpose)

    pace = PACES[outline.difficulty]
    material = material_of(outline.split)
    scene = streams("scene")
    domain = scene.choice(material.domains)
    style = scene.choice(material.styles)
    clock = Clock(scene.integer(2023, 2025), scene.integer(1, 12), scene.integer(4, 27))
    start_ms = scene.integer(1, 20) * 3_600_000 + scene.integer(0, 59) * MINUTE_MS
    topology = draw_topology(streams("topology"), domain, EXTENTS[outline.difficulty])
    cast = draw_cast(streams("cast"), outline, topology)
    since_ms = scene.integer(*pace.since_minute) * MINUTE_MS + scene.integer(0, 59_000)
    tenants, planned = _tenants(streams("tenants"), domain.tenant)
    guilty = cast.guilty
    effect = guilty.kind.effect(Spot(guilty.service, guilty.victim, since_ms, pace.minutes))
    load = Load(
        minutes=pace.minutes,
        per_minute=pace.per_minute,
        tenants=tenants,
        planned_tenants=planned if guilty.is_exercise else (),
        planned_ms=(since_ms - MINUTE_MS, since_ms + LASTS_MS + 3 * MINUTE_MS),
    )
    happened = run(streams("run"), topology, effect, load)
    latest = pace.minutes - (6 if outline.difficulty is Difficulty.MARATHON else 4)
    if happened.onset_minute is None or not since_ms // MINUTE_MS <= happened.onset_minute <= latest:
        raise Redraw("the fault shows too early, too late or not at all")
    return Story(
        outline=outline,
        streams=streams,
        pace=pace,
        material=material,
        domain=domain,
        style=style,
        topology=topology,
        cast=cast,
        run=happened,
        clock=clock,
        start_ms=start_ms,
        since_ms=since_ms,
        planned=(planned[0], planned[-1]),
    )


def _tenants(stream: Stream, prefix: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Customers, and the ids of an exercise's driver: numbers of the same length, one after the other."""
    first = stream.integer(21, 95) * 100
    planned = tuple(f"{prefix}-{first + n}" for n in range(_PLANNED))
    numbers: dict[int, None] = {}
    while len(numbers) < _TENANTS:
        number = stream.integer(2_000, 9_899)
        if not first <= number < first + _PLANNED:
            numbers[number] = None
    return tuple(f"{prefix}-{number}" for number in numbers), planned
