"""Timed entries: what several writers emit is merged by time into one log, as one process would print it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.writers.clock import Window


@dataclass(frozen=True)
class Entry:
    """One log record; `text` has several lines where a stack trace follows."""

    at_ms: int
    text: str


def merge(*sources: Iterable[Entry]) -> str:
    """Entries of the same millisecond keep the order in which their sources are given."""
    entries = [entry for source in sources for entry in source]
    return "".join(f"{entry.text}\n" for entry in sorted(entries, key=lambda entry: entry.at_ms))


def ticks(stream: Stream, window: Window, every_ms: int) -> Iterator[int]:
    """Times about `every_ms` apart: half regular, half jitter, as timers on a busy host are."""
    at_ms = window.start_ms + stream.integer(0, every_ms)
    while at_ms < window.end_ms:
        yield at_ms
        at_ms += every_ms * 3 // 4 + stream.integer(0, every_ms // 2)
