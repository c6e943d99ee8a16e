"""Two nights on the coast: nodes, their disks and who writes to them.

Tiles for the public flood map are written out in surges. While one lasts, the disk it goes to has no time for
anybody else, and whatever shares that disk stands still: on the first night shards of the north on n-14, on the
second shards of the south and the warnings' outbox on n-22. Disk accounts know slices only by their ids.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.writers.clock import Clock, Window

SCENARIO_ID: Final = "incident-marathon-late-readings"
VERSION: Final = "tidewatch-2025.28"


_LEAST_MB_S, _SPREAD_MB_S, _STRIDE_MB_S = 872, 83, 37
"""What the stranger writes: close to what a disk can take, and no two surges alike."""


@dataclass(frozen=True, slots=True)
class Surge:
    """A stretch in which the stranger's slice takes the whole disk."""

    number: int
    start_ms: int
    end_ms: int
    mb_s: int
    wait_ms: int
    """What a write to that disk waits meanwhile."""

    def holds(self, at_ms: int) -> bool:
        return self.start_ms <= at_ms < self.end_ms


@dataclass(frozen=True, slots=True)
class Slice:
    """Somebody's share of a node, as the disk accounts show it: an id, and how much it writes."""

    uid: str
    mb_s: tuple[int, int]
    hours: Window | None = None
    """When it is at work, if not always."""

    def at_work(self, at_ms: int) -> bool:
        return self.hours is None or self.hours.start_ms <= at_ms < self.hours.end_ms


@dataclass(frozen=True)
class Night:
    name: str
    clock: Clock
    window: Window
    node: str
    stranger: str
    """The slice that takes the disk."""
    surges: tuple[Surge, ...]
    slices: dict[str, tuple[Slice, ...]]
    """By node, the stranger left out."""
    leads: dict[str, str]
    """By shard: the node it is led on."""

    def surge_at(self, at_ms: int) -> Surge | None:
        return next((surge for surge in self.surges if surge.holds(at_ms)), None)

    def stalled_at_ms(self, surge: Surge) -> int:
        """When a service that shares the disk first says so."""
        return surge.start_ms + Stream(SCENARIO_ID, self.name, "stall", surge.number).integer(9_000, 21_000)

    def draws(self, *part: str | int) -> Stream:
        return Stream(SCENARIO_ID, self.name, *part)


def _surges(name: str, clock: Clock, *starts: str) -> tuple[Surge, ...]:
    found = []
    for number, start in enumerate(starts, 1):
        stream = Stream(SCENARIO_ID, name, "surge", number)
        start_ms = clock.at(start)
        end_ms = start_ms + stream.integer(126, 172) * 1000
        mb_s = _LEAST_MB_S + number * _STRIDE_MB_S % _SPREAD_MB_S
        found.append(Surge(number, start_ms, end_ms, mb_s, stream.integer(3900, 7200)))
    return tuple(found)


_THURSDAY = Clock(2025, 7, 10)
_FRIDAY = Clock(2025, 7, 11)

FIRST: Final = Night(
    name="night-1",
    clock=_THURSDAY,
    window=_THURSDAY.window("01:40", "03:20"),
    node="n-14",
    stranger="7c41f0d2",
    surges=_surges("night-1", _THURSDAY, "02:06:12", "02:31:40", "02:58:05"),
    slices={
        "n-11": (Slice("8d20c1f3", (24, 71)), Slice("44b7ae10", (5, 14))),
        "n-14": (Slice("1f0c22ab", (22, 64)), Slice("9a6e5d71", (4, 12))),
        "n-17": (Slice("c3f98e42", (20, 58)), Slice("e09a77c4", (371, 446), _THURSDAY.window("02:00", "02:54"))),
    },
    leads={"s03": "n-11", "s05": "n-11", "s07": "n-14", "s08": "n-14", "s12": "n-17", "s15": "n-17"},
)

SECOND: Final = Night(
    name="night-2",
    clock=_FRIDAY,
    window=_FRIDAY.window("01:34", "04:00"),
    node="n-22",
    stranger="5b9e03a7",
    surges=_surges(
        "night-2",
        _FRIDAY,
        "01:44:20",
        "02:00:51",
        "02:17:33",
        "02:34:02",
        "02:50:45",
        "03:07:10",
        "03:23:56",
        "03:40:29",
    ),
    slices={
        "n-20": (Slice("a81f6cd9", (19, 60)), Slice("03be57f2", (4, 12))),
        "n-22": (Slice("2b71d9e0", (21, 66)), Slice("d40f6a18", (6, 17))),
        "n-25": (Slice("b6e2140c", (20, 61)), Slice("f18a90d5", (365, 440), _FRIDAY.window("02:00", "02:51"))),
    },
    leads={"s21": "n-20", "s22": "n-20", "s26": "n-22", "s29": "n-22", "s31": "n-25", "s34": "n-25"},
)

ARCHIVE_SLICE: Final = "e09a77c4"
STORE_SLICE: Final = "1f0c22ab"
FIRST_STALLED_SHARD: Final = "s07"
