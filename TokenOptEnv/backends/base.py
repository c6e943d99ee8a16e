"""What a kind of backend is: a name, what stands after its colon, and how it is opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from TokenOptEnv.backends.live_settings import LiveSettings
from TokenOptEnv.backends.statement import BackendStatement
from TokenOptEnv.simulators.backend import Backend


class OpenBackend(Backend, Protocol):
    """A backend that serves many episodes, one after the other or at once, and holds a file meanwhile."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class BackendScheme:
    name: str
    takes: str
    """What stands after the colon, in capitals; empty where nothing does."""
    describes: str
    open: Callable[[str, LiveSettings], OpenBackend | None]
    state: Callable[[str, LiveSettings], BackendStatement]
    """What a run writes down of it, before it is opened."""

    @property
    def written(self) -> str:
        return f"{self.name}:{self.takes}" if self.takes else self.name
