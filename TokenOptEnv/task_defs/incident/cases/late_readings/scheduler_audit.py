"""Who ran where: the batch scheduler's audit of three days. A pod's id is its slice's id in the disk accounts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.cases.late_readings import nights
from TokenOptEnv.task_defs.incident.writers.clock import Clock
from TokenOptEnv.task_defs.incident.writers.entries import Entry, merge
from TokenOptEnv.task_defs.incident.writers.json_lines import JsonLog

_DAY_MS = 86_400_000
_HOUR_MS = 3_600_000
_BEGIN = Clock(2025, 7, 8)
_FIRST_RUN_NUMBER = 88_140
_NODES = ("n-11", "n-12", "n-14", "n-17", "n-20", "n-22", "n-25", "n-26")

TILES: Final = "tile-baker"
ARCHIVE: Final = "archive-sync"
MODEL: Final = "surge-model"
REPORTS: Final = "report-desk"
NEAR_UID: Final = "7c41e9b0"
"""A pod of the archive whose id looks like the stranger's."""


@dataclass(frozen=True, slots=True)
class _Start:
    at_ms: int
    job: str
    owner: str
    spec: int
    pods: tuple[tuple[str, str], ...]
    """Id and node."""
    minutes: int


@dataclass(frozen=True, slots=True)
class Started:
    run: str
    start: _Start


def _at(day: int, time: str) -> int:
    """`day` of July 2025."""
    return (day - _BEGIN.day) * _DAY_MS + _BEGIN.at(time)


_REPORTS_ADOPTED_MS = _at(10, "09:20:45.808")


@cache
def runs() -> tuple[Started, ...]:
    ordered = sorted(_starts(), key=lambda start: start.at_ms)
    stream = Stream(nights.SCENARIO_ID, "runs")
    number = _FIRST_RUN_NUMBER
    found = []
    for start in ordered:
        number += stream.integer(1, 4)
        found.append(Started(f"r-{number}", start))
    return tuple(found)


def run_of(uid: str) -> Started:
    return next(started for started in runs() if any(pod == uid for pod, _ in started.start.pods))


def bound_span(uid: str) -> str:
    started = run_of(uid)
    node = next(node for pod, node in started.start.pods if pod == uid)
    return f'"pod":"{uid}","run":"{started.run}","node":"{node}"'


def created_span(started: Started) -> str:
    return f'"run":"{started.run}","job":"{started.start.job}","owner":"{started.start.owner}"'


ADOPTED: Final = '"job":"coast-tiles","rev":3107,"was":3060'


def audit() -> str:
    log = JsonLog(_BEGIN)

    def told(started: Started) -> Iterator[Entry]:
        start, stream = started.start, Stream(nights.SCENARIO_ID, "audit", started.run)
        yield log.line(
            start.at_ms, "info", "run created", run=started.run, job=start.job, owner=start.owner, spec=start.spec
        )
        at_ms = start.at_ms
        for pod, node in start.pods:
            at_ms += stream.integer(300, 2_900)
            yield log.line(at_ms, "info", "bound", pod=pod, run=started.run, node=node)
        ended_ms = start.at_ms + start.minutes * 60_000 + stream.integer(0, 59_999)
        yield log.line(ended_ms, "info", "run done", run=started.run, code=0)

    by_hand = [
        log.line(_at(9, "14:02:11.300"), "info", "spec adopted", job="cold-copy", rev=3109, was=3031),
        log.line(_at(9, "23:10:04.120"), "info", "spec adopted", job="coast-tiles", rev=3107, was=3060),
        log.line(_REPORTS_ADOPTED_MS, "info", "spec adopted", job="tide-tables", rev=3112, was=3095),
        log.line(_at(10, "02:59:02.016"), "warn", "node under pressure", node="n-14", kind="io", tainted="no"),
        log.line(_at(11, "03:09:02.662"), "warn", "node under pressure", node="n-22", kind="io", tainted="no"),
        log.line(_at(10, "17:45:31.270"), "warn", "image pull slow", node="n-26", ms=61_207),
    ]
    return merge(by_hand, *(told(started) for started in runs()))


def _starts() -> Iterator[_Start]:
    yield _Start(_at(9, "01:58:20.400"), "coast-tiles", TILES, 3060, (("b7d1405e", "n-26"),), 131)
    yield _Start(_at(10, "01:58:21.112"), "coast-tiles", TILES, 3107, ((nights.FIRST.stranger, "n-14"),), 74)
    yield _Start(_at(11, "01:36:19.705"), "coast-tiles", TILES, 3107, ((nights.SECOND.stranger, "n-22"),), 139)
    yield _Start(_at(8, "23:00:02.040"), "cold-copy", ARCHIVE, 3031, (("94ce02b8", "n-12"),), 52)
    yield _Start(_at(10, "01:59:40.310"), "cold-copy", ARCHIVE, 3109, ((nights.ARCHIVE_SLICE, "n-17"),), 54)
    yield _Start(_at(11, "01:59:41.022"), "cold-copy", ARCHIVE, 3109, (("f18a90d5", "n-25"),), 51)
    yield _Start(_at(10, "13:30:00.600"), "cold-verify", ARCHIVE, 3031, ((NEAR_UID, "n-14"),), 38)
    yield from _repeated("ensemble", MODEL, 2_988, every_hours=2, pods=2, minutes=47)
    for start in _repeated("tide-tables", REPORTS, 3_095, every_hours=6, pods=1, minutes=9):
        yield replace(start, spec=3_112) if start.at_ms > _REPORTS_ADOPTED_MS else start
    yield from _repeated("gauge-health", REPORTS, 2_871, every_hours=5, pods=1, minutes=4)


def _repeated(job: str, owner: str, spec: int, *, every_hours: int, pods: int, minutes: int) -> Iterator[_Start]:
    stream = Stream(nights.SCENARIO_ID, "repeated", job)
    begin_ms, end_ms = _at(8, "22:00"), _at(11, "06:00")
    for hour_ms in range(begin_ms, end_ms, every_hours * _HOUR_MS):
        at_ms = hour_ms + stream.integer(60_000, 1_500_000)
        bound = tuple((stream.hex(8), stream.choice(_NODES)) for _ in range(pods))
        yield _Start(at_ms, job, owner, spec, bound, minutes)
