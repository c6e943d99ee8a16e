"""An accepted action, resolved: every id has become the thing it names. One type per thing that can happen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from TokenOptEnv.episode_state import InputQuote, RouteContext, SavedCheckpoint
from TokenOptEnv.models import Effort, Finding, MemoryItem, ModelCard, Refusal, Subtask
from TokenOptEnv.simulators.compression import Method
from TokenOptEnv.world import ArtifactView, SegmentView


class ReadWhole(NamedTuple):
    artifact: ArtifactView
    missing: tuple[SegmentView, ...]


class Preview(NamedTuple):
    artifact: ArtifactView
    page: int
    pages: int
    segments: tuple[SegmentView, ...]


class Search(NamedTuple):
    query: str
    top_k: int


class QueryCache(NamedTuple):
    query: str


class Hydrate(NamedTuple):
    segments: tuple[SegmentView, ...]


class Purge(NamedTuple):
    items: tuple[MemoryItem, ...]


class Compress(NamedTuple):
    items: tuple[MemoryItem, ...]
    method: Method
    target_ratio: float
    query: str


class Route(NamedTuple):
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


class WriteCheckpoint(NamedTuple):
    note: str
    text: str
    tokens: int
    findings: tuple[Finding, ...]
    source_ids: tuple[str, ...]


class RestoreCheckpoint(NamedTuple):
    saved: SavedCheckpoint


class Submit(NamedTuple):
    answer: Mapping[str, str]
    findings: tuple[Finding, ...]
    evidence_ids: tuple[str, ...]


class Refused(NamedTuple):
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
