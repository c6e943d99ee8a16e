"""One JSON object per line, as structured loggers write for a collector."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.writers.clock import Clock, Window
from TokenOptEnv.task_defs.incident.writers.entries import Entry, ticks


@dataclass(frozen=True)
class JsonLog:
    clock: Clock

    def line(self, at_ms: int, level: str, message: str, **fields: str | int) -> Entry:
        record = {"ts": self.clock.iso(at_ms), "level": level, "msg": message, **fields}
        return Entry(at_ms, json.dumps(record, separators=(",", ":")))

    def at(self, time: str, level: str, message: str, **fields: str | int) -> Entry:
        """A line written by hand."""
        return self.line(self.clock.at(time), level, message, **fields)


@dataclass(frozen=True)
class Event:
    """A kind of record; its `key` field is an id, drawn behind `prefix`."""

    level: str
    message: str
    key: str
    prefix: str
    ms: tuple[int, int]
    via: str | None = None


def events(stream: Stream, log: JsonLog, window: Window, every_ms: int, kinds: Sequence[Event]) -> Iterator[Entry]:
    for at_ms in ticks(stream, window, every_ms):
        kind = stream.choice(kinds)
        fields: dict[str, str | int] = {kind.key: f"{kind.prefix}{stream.hex(8)}"}
        if kind.via is not None:
            fields["via"] = kind.via
        yield log.line(at_ms, kind.level, kind.message, **fields, ms=stream.integer(*kind.ms))
