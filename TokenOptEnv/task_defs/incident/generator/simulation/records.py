"""What a run leaves behind."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Request:
    request_id: str
    tenant: str
    at_ms: int
    planned: bool
    """Sent by an exercise's own driver, not by a customer."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One service's part in one request."""

    request: Request
    service: str
    host: int
    began_ms: int
    ended_ms: int
    end: str
    blamed: str | None
    blamed_host: int
    tries: int
    waited_ms: int

    @property
    def ok(self) -> bool:
        return self.end == "ok"

    @property
    def took_ms(self) -> int:
        return self.ended_ms - self.began_ms

    @property
    def own_failure(self) -> bool:
        """It failed by itself, not by waiting for another."""
        return not self.ok and self.blamed is None
