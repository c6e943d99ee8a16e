"""Logback lines of a JVM service: stack traces, collector pauses, pool statistics, probes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.writers.clock import Clock, Window
from TokenOptEnv.task_defs.incident.writers.entries import Entry, ticks


@dataclass(frozen=True)
class Thrown:
    """An exception with the frames it was thrown through, and what caused it."""

    what: str
    frames: tuple[str, ...]
    cause: Thrown | None = None
    more: int = 0

    def lines(self, lead: str = "") -> list[str]:
        lines = [f"{lead}{self.what}", *(f"\tat {frame}" for frame in self.frames)]
        if self.more:
            lines.append(f"\t... {self.more} more")
        return lines + (self.cause.lines("Caused by: ") if self.cause else [])


@dataclass(frozen=True)
class JavaLog:
    clock: Clock

    def line(
        self, at_ms: int, level: str, thread: str, logger: str, message: str, thrown: Thrown | None = None
    ) -> Entry:
        first = f"{self.clock.spaced(at_ms)} {level:<5} [{thread}] {logger} - {message}"
        return Entry(at_ms, "\n".join([first, *(thrown.lines() if thrown else [])]))

    def at(self, time: str, level: str, thread: str, logger: str, message: str, thrown: Thrown | None = None) -> Entry:
        """A line written by hand."""
        return self.line(self.clock.at(time), level, thread, logger, message, thrown)


@dataclass(frozen=True)
class Heap:
    """What the collector reports on: sizes in megabytes."""

    size: int
    live: int
    live_spread: int
    pause_ms: int


def collector_pauses(
    stream: Stream, log: JavaLog, window: Window, every_ms: int, heap: Heap, number: int
) -> Iterator[Entry]:
    """`number` is that of the last collection before the window."""
    for at_ms in ticks(stream, window, every_ms):
        number += 1
        after = heap.live + stream.integer(0, heap.live_spread)
        before = min(heap.size - 8, after + stream.integer(heap.size // 10, heap.size // 4))
        pause = heap.pause_ms * stream.integer(60, 160) / 100 + stream.integer(0, 999) / 1000
        kind = stream.choice(("G1 Evacuation Pause", "G1 Evacuation Pause", "G1 Humongous Allocation"))
        message = f"GC({number}) Pause Young (Normal) ({kind}) {before}M->{after}M({heap.size}M) {pause:.3f}ms"
        yield log.line(at_ms, "INFO", "gc-log", "jvm.gc", message)


def pool_statistics(
    stream: Stream, log: JavaLog, window: Window, every_ms: int, pool: str, total: int, busiest: int
) -> Iterator[Entry]:
    """The housekeeping line of a HikariCP pool that has connections to spare."""
    for at_ms in ticks(stream, window, every_ms):
        active = stream.integer(1, busiest)
        message = f"{pool} - Pool stats (total={total}, active={active}, idle={total - active}, waiting=0)"
        yield log.line(at_ms, "DEBUG", f"{pool} housekeeper", "c.z.hikari.pool.HikariPool", message)


def probes(stream: Stream, log: JavaLog, window: Window, every_ms: int, detail: str) -> Iterator[Entry]:
    for at_ms in ticks(stream, window, every_ms):
        thread = f"http-nio-8081-exec-{stream.integer(1, 4)}"
        yield log.line(
            at_ms,
            "DEBUG",
            thread,
            "o.s.b.actuate.health",
            f"GET /actuator/health -> UP {detail} {stream.integer(1, 9)}ms",
        )


@dataclass(frozen=True)
class Operation:
    """A business line that a request thread prints; `{id}`, `{n}` and `{ms}` are drawn."""

    logger: str
    message: str
    ms: tuple[int, int]


def operations(
    stream: Stream, log: JavaLog, window: Window, every_ms: int, kinds: Sequence[Operation], prefix: str
) -> Iterator[Entry]:
    for at_ms in ticks(stream, window, every_ms):
        kind = stream.choice(kinds)
        drawn = kind.message.format(id=f"{prefix}{stream.hex(8)}", n=stream.integer(1, 9), ms=stream.integer(*kind.ms))
        yield log.line(at_ms, "INFO", f"http-nio-8080-exec-{stream.integer(1, 40)}", kind.logger, drawn)
