"""Logfmt lines as Go's `slog` text handler prints them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.writers.clock import Clock, Window
from TokenOptEnv.task_defs.incident.writers.entries import Entry, ticks

_BARE = re.compile(r"[\w.:/@+-]+")


@dataclass(frozen=True)
class LogfmtLog:
    clock: Clock

    def line(self, at_ms: int, level: str, message: str, **fields: str | int) -> Entry:
        pairs = " ".join(f"{name}={_value(str(value))}" for name, value in fields.items())
        return Entry(at_ms, f"time={self.clock.iso(at_ms)} level={level} msg={_value(message)} {pairs}".rstrip())

    def at(self, time: str, level: str, message: str, **fields: str | int) -> Entry:
        """A line written by hand."""
        return self.line(self.clock.at(time), level, message, **fields)


@dataclass(frozen=True)
class Exchange:
    """A call that went well: to which upstream, at which of its peers."""

    message: str
    upstream: str
    peers: tuple[str, ...]
    ms: tuple[int, int]


def exchanges(
    stream: Stream, log: LogfmtLog, window: Window, every_ms: int, kinds: Sequence[Exchange]
) -> Iterator[Entry]:
    for at_ms in ticks(stream, window, every_ms):
        kind = stream.choice(kinds)
        yield log.line(
            at_ms,
            "INFO",
            kind.message,
            upstream=kind.upstream,
            peer=stream.choice(kind.peers),
            ms=stream.integer(*kind.ms),
            trace=stream.hex(8),
        )


def short_circuits(
    stream: Stream, log: LogfmtLog, window: Window, every_ms: int, message: str, upstream: str, peer: str
) -> Iterator[Entry]:
    """Calls that a breaker answers by itself while one peer is shut out."""
    for at_ms in ticks(stream, window, every_ms):
        yield log.line(at_ms, "WARN", message, upstream=upstream, peer=peer, breaker="open", trace=stream.hex(8))


def runtime_statistics(stream: Stream, log: LogfmtLog, window: Window, every_ms: int, heap_mb: int) -> Iterator[Entry]:
    for at_ms in ticks(stream, window, every_ms):
        yield log.line(
            at_ms,
            "DEBUG",
            "runtime",
            goroutines=stream.integer(180, 420),
            heap_mb=stream.integer(heap_mb * 8 // 10, heap_mb * 12 // 10),
            gc_pause_us=stream.integer(90, 900),
        )


def _value(text: str) -> str:
    return text if _BARE.fullmatch(text) else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
