"""One thing that a service logged, before any format has been chosen for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    DEBUG = "DEBUG"
    INFO = "INFO"
    WARN = "WARN"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class Record:
    at_ms: int
    """Since midnight of the case's day."""
    host: str
    level: Level
    message: str
    request_id: str | None = None
    peer: str | None = None
    took_ms: int | None = None
    clue: str | None = None
    """What it is evidence of; such a record is always kept."""

    @property
    def fields(self) -> dict[str, str | int]:
        known = {"req": self.request_id, "peer": self.peer, "ms": self.took_ms}
        return {name: value for name, value in known.items() if value is not None}
