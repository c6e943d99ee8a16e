"""A plan in the making: operations that become actions while they are played in the engine.

A program says what to surface, hold, ask and drop; what the ids of the replies will be, and how many
models must be asked before one is right, only playing tells (`stage`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from TokenOptEnv.models import Effort

Attempts: TypeAlias = tuple[tuple[str, Effort], ...]
"""Models, each with an effort, in the order in which they are asked until one is right."""


@dataclass(frozen=True, slots=True)
class Read:
    """Read a page of an artifact, or a small artifact whole."""

    artifact_id: str
    page: int


@dataclass(frozen=True, slots=True)
class Search:
    query: str
    top_k: int


@dataclass(frozen=True, slots=True)
class Load:
    """Hydrate those of these segments that are not held."""

    segment_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Squeeze:
    """Compress these segments, which are held, into one item."""

    segment_ids: tuple[str, ...]
    method: str
    target_ratio: float
    query: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask one model after another until one is right; the first by a route, stronger ones by escalation."""

    subtask_id: str
    attempts: Attempts
    context_ids: tuple[str, ...]
    glimpses: tuple[str, ...] = ()
    """Texts that stand in a search result: what holds them is handed over instead of the segments they are from."""


@dataclass(frozen=True, slots=True)
class Adopt:
    """Look up an earlier result that is known to be valid, and answer with it."""

    subtask_id: str
    entry_id: str
    query: str


@dataclass(frozen=True, slots=True)
class Drop:
    """Purge everything that no later operation uses."""


@dataclass(frozen=True, slots=True)
class Save:
    """Note down the findings of this phase."""


@dataclass(frozen=True, slots=True)
class Restore:
    """Bring every checkpoint back."""


Operation: TypeAlias = Read | Search | Load | Squeeze | Ask | Adopt | Drop | Save | Restore
Program: TypeAlias = tuple[Operation, ...]
