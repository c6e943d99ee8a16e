"""An accepted action, resolved: every id has become the thing it names. One type per thing that can happen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from TokenOptEnv.episode_state import InputQuote, RouteContext, SavedCheckpoint
from TokenOptEnv.models import Effort, Finding, MemoryItem, ModelCard, Refusal, Subtask
from TokenOptEnv.simulators.compression import Method
from TokenOptEnv.world import ArtifactView, SegmentView


@dataclass(frozen=True, slots=True)
class ReadWhole:
    artifact: ArtifactView
    missing: tuple[SegmentView, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    artifact: ArtifactView
    page: int
    pages: int
    segments: tuple[SegmentView, ...]


@dataclass(frozen=True, slots=True)
class Search:
    query: str
    top_k: int


@dataclass(frozen=True, slots=True)
class QueryCache:
    query: str


@dataclass(frozen=True, slots=True)
class Hydrate:
    segments: tuple[SegmentView, ...]


@dataclass(frozen=True, slots=True)
class Purge:
    items: tuple[MemoryItem, ...]


@dataclass(frozen=True, slots=True)
class Compress:
    items: tuple[MemoryItem, ...]
    method: Method
    target_ratio: float
    query: str


@dataclass(frozen=True, slots=True)
class Route:
    subtask: Subtask
    card: ModelCard
    effort: Effort
    context: RouteContext
    quote: InputQuote
    escalated_from: str | None = None

    @property
    def reasoning_permille(self) -> int:
        """A stronger model that is handed the earlier finding checks it instead of starting afresh."""
        return 1_000 if self.escalated_from is None else 500


@dataclass(frozen=True, slots=True)
class WriteCheckpoint:
    note: str
    text: str
    tokens: int
    findings: tuple[Finding, ...]
    source_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RestoreCheckpoint:
    saved: SavedCheckpoint


@dataclass(frozen=True, slots=True)
class Submit:
    answer: Mapping[str, str]
    findings: tuple[Finding, ...]
    evidence_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """No-op with a reason: it flows through the same line as everything else."""

    refusal: Refusal


Move: TypeAlias = (
    ReadWhole
    | Preview
    | Search
    | QueryCache
    | Hydrate
    | Purge
    | Compress
    | Route
    | WriteCheckpoint
    | RestoreCheckpoint
    | Submit
    | Refused
)
