"""Formats of logs that are cut at midnight and named by their day: lines have the time of day alone."""

from __future__ import annotations

import json
from dataclasses import dataclass

from TokenOptEnv.task_defs.incident.writers.clock import Clock
from TokenOptEnv.task_defs.incident.writers.entries import Entry
from TokenOptEnv.task_defs.incident.writers.java_log import JavaLog, Thrown
from TokenOptEnv.task_defs.incident.writers.json_lines import JsonLog


def time_of_day(clock: Clock, at_ms: int) -> str:
    return f"{clock.second(at_ms)}.{at_ms % 1000:03d}"


@dataclass(frozen=True)
class DailyJsonLog(JsonLog):
    def line(self, at_ms: int, level: str, message: str, **fields: str | int) -> Entry:
        record = {"ts": time_of_day(self.clock, at_ms), "level": level, "msg": message, **fields}
        return Entry(at_ms, json.dumps(record, separators=(",", ":")))


@dataclass(frozen=True)
class DailyJavaLog(JavaLog):
    def line(
        self, at_ms: int, level: str, thread: str, logger: str, message: str, thrown: Thrown | None = None
    ) -> Entry:
        first = f"{time_of_day(self.clock, at_ms)} {level:<5} [{thread}] {logger} - {message}"
        return Entry(at_ms, "\n".join([first, *(thrown.lines() if thrown else [])]))
