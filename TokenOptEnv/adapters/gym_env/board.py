"""What the numbers stand for: the lists that actions point into and features describe, at one observation.

Lists that grow are shown newest first and cut to a fixed length, so that what a policy has just been told is always
within reach and every array keeps its shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from TokenOptEnv.models import (
    ArtifactHandle,
    Checkpoint,
    MemoryItem,
    ModelCard,
    ReadPayload,
    RouteRecord,
    SearchPayload,
    SegmentHandle,
    Subtask,
    TokenOptEnvObservation,
)
from TokenOptEnv.questions import wording
from TokenOptEnv.simulators import terms

T = TypeVar("T")

ARTIFACTS: Final = 32
SUBTASKS: Final = 8
MODELS: Final = 6
ITEMS: Final = 24
HANDLES: Final = 32
ROUTES: Final = 12
CHECKPOINTS: Final = 6


@dataclass(frozen=True, slots=True)
class Board:
    """Number 0 of a list is its first; of items, handles, routes and checkpoints the first is the newest."""

    artifacts: tuple[ArtifactHandle, ...]
    subtasks: tuple[Subtask, ...]
    models: tuple[ModelCard, ...]
    items: tuple[MemoryItem, ...]
    handles: tuple[SegmentHandle, ...]
    """Segments that were surfaced and are not held."""
    routes: tuple[RouteRecord, ...]
    checkpoints: tuple[Checkpoint, ...]

    @classmethod
    def of(cls, seen: TokenOptEnvObservation) -> Board:
        held = {item.item_id for item in seen.working_memory.items}
        return cls(
            artifacts=seen.artifacts[:ARTIFACTS],
            subtasks=seen.task.subtasks[:SUBTASKS],
            models=seen.models[:MODELS],
            items=_newest(seen.working_memory.items, ITEMS),
            handles=_newest([handle for handle in seen.surfaced if handle.segment_id not in held], HANDLES),
            routes=_newest(seen.routing.routes, ROUTES),
            checkpoints=_newest(seen.checkpoints, CHECKPOINTS),
        )


def _newest(things: Sequence[T], most: int) -> tuple[T, ...]:
    return tuple(reversed(things[-most:]))


class Notes:
    """What an episode has shown so far that its latest observation does not repeat."""

    def __init__(self) -> None:
        self._pages: dict[str, tuple[int, int]] = {}
        self._glimpsed: dict[str, frozenset[str]] = {}
        """Terms of a segment's line in an outline, or of its snippet."""
        self._read: dict[str, frozenset[str]] = {}
        """Terms of whole texts that were held at some time."""

    def see(self, seen: TokenOptEnvObservation) -> None:
        payload = seen.last_tool_result.payload if seen.last_tool_result is not None else None
        if isinstance(payload, ReadPayload):
            self._pages[payload.artifact_id] = (payload.page, payload.pages)
            for line in payload.outline:
                self._glimpsed[line.segment_id] = frozenset(terms.distinct(line.title))
        elif isinstance(payload, SearchPayload):
            for hit in payload.hits:
                self._glimpsed[hit.segment_id] = frozenset(terms.distinct(hit.snippet))
        for item in seen.working_memory.items:
            if item.item_id not in self._read:
                self._read[item.item_id] = frozenset(terms.distinct(item.text))

    def next_page(self, artifact_id: str) -> int:
        """The page after the last one read; after the last page, the first."""
        page, pages = self._pages.get(artifact_id, (0, 1))
        return page + 1 if page < pages else 1

    def share_read(self, artifact_id: str) -> float:
        page, pages = self._pages.get(artifact_id, (0, 1))
        return page / pages

    def overlap(self, asked: frozenset[str], thing_id: str) -> float:
        """The share of a question's terms that stand in what was shown of a thing: a lexical hint, and no more."""
        known = self._read.get(thing_id) or self._glimpsed.get(thing_id, frozenset())
        return len(asked & known) / len(asked) if asked else 0.0


def asked_terms(seen: TokenOptEnvObservation, board: Board) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(terms.distinct(wording(seen, subtask))) for subtask in board.subtasks)
