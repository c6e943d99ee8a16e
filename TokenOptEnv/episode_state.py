"""Everything an episode has come to, frozen. All of it follows from what the agent was shown.

Hidden truth is not here: it enters only where a model answers (`world.backend`) and where the end is
judged (`rewards.settle`). So this whole state may be read by whatever builds an observation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from TokenOptEnv.models import (
    Checkpoint,
    CompressionTelemetry,
    EndReason,
    Finding,
    GuardrailEvent,
    LedgerEntry,
    MemoryItem,
    RouteRecord,
    RoutingTelemetry,
    SegmentHandle,
)


class PromptPiece(NamedTuple):
    """A stretch of a prompt that is equal to another exactly when their keys are."""

    key: str
    tokens: int


class PrefixCache(NamedTuple):
    """The last prompt sent to a model: what its provider may still hold."""

    pieces: tuple[PromptPiece, ...]
    used_at_ms: int


class InputQuote(NamedTuple):
    """The input side of a call, priced. The last piece is what changes every time, so it is never written."""

    pieces: tuple[PromptPiece, ...]
    tokens: int
    fresh_tokens: int
    cached_tokens: int
    written_tokens: int
    pico_usd: int
    cold_pico_usd: int
    latency_ms: int


class Charge(NamedTuple):
    """An amount of each budget: what a call takes, or what is left."""

    tokens: int
    nano_usd: int
    latency_ms: int


_NOTHING = Charge(0, 0, 0)
_NOTHING_ROUTED = RoutingTelemetry(routes=(), nano_usd=0)
_NOTHING_COMPRESSED = CompressionTelemetry(runs=0, tokens_before=0, tokens_after=0)


class Spent(NamedTuple):
    tokens: int = 0
    nano_usd: int = 0
    latency_ms: int = 0
    routed_nano_usd: int = 0


@dataclass(frozen=True, slots=True)
class SavedCheckpoint:
    """What a checkpoint keeps besides its public record."""

    record: Checkpoint
    text: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class CompressionRun:
    """Kept so that the end can tell whether a compression dropped what mattered."""

    before: tuple[MemoryItem, ...]
    after: MemoryItem


class ContextPiece(NamedTuple):
    """One piece of what a model is given to read: a memory item, or a segment by handle.

    `source_ids` are the segments its text comes from; a piece made by a compressor holds only parts of them.
    """

    item_id: str
    text: str
    source_ids: tuple[str, ...]


class RouteContext(NamedTuple):
    """What a route was given, so that an escalation can hand on the same."""

    question: str
    slot_value: str | None
    pieces: tuple[ContextPiece, ...]


@dataclass(frozen=True, slots=True)
class Submission:
    answer: Mapping[str, str]
    findings: tuple[Finding, ...]
    evidence_ids: tuple[str, ...]


@dataclass(frozen=True)
class EpisodeState:
    episode_id: str
    step: int = 0
    phase: int = 0
    memory: tuple[MemoryItem, ...] = ()
    memory_tokens: int = 0
    memory_pieces: tuple[PromptPiece, ...] = ()
    """The items of memory, in order, as pieces of the policy's prompt."""
    aliases: Mapping[str, int] = field(default_factory=dict)
    """Every segment and item id the agent ever saw, with its number; numbers are never reused."""
    surfaced: Mapping[str, SegmentHandle] = field(default_factory=dict)
    read_ids: frozenset[str] = frozenset()
    """Segments whose whole text was in working memory."""
    seen_requests: Mapping[str, int] = field(default_factory=dict)
    """How often each page and query was asked for."""
    purged_ids: frozenset[str] = frozenset()
    findings: Mapping[str, Finding] = field(default_factory=dict)
    held_findings: tuple[Finding, ...] = ()
    """Those whose text is in working memory, in its order; what was purged is forgotten."""
    routes: tuple[RouteRecord, ...] = ()
    routing: RoutingTelemetry = _NOTHING_ROUTED
    """The routes and what they cost, as shown: made when one is asked, not at every step."""
    route_contexts: Mapping[str, RouteContext] = field(default_factory=dict)
    checkpoints: tuple[SavedCheckpoint, ...] = ()
    compressions: tuple[CompressionRun, ...] = ()
    compression: CompressionTelemetry = _NOTHING_COMPRESSED
    """What they were and are in tokens, as shown."""
    cache_queries: int = 0
    cache_hits: int = 0
    full_memory_steps: int = 0
    spent: Spent = field(default_factory=Spent)
    prompt: InputQuote | None = None
    """The prompt the policy is looking at, priced; it is billed when the policy acts."""
    left: Charge = _NOTHING
    """What is left to pay it from."""
    must_submit: bool = False
    """That prompt cannot be paid."""
    entries: tuple[LedgerEntry, ...] = ()
    prefix_caches: Mapping[str, PrefixCache] = field(default_factory=dict)
    milestone_ids: tuple[str, ...] = ()
    guardrail_events: tuple[GuardrailEvent, ...] = ()
    paid: float = 0.0
    """The return so far."""
    submission: Submission | None = None
    end: EndReason | None = None

    @property
    def clock_ms(self) -> int:
        """The simulated clock: nothing but calls takes time."""
        return self.spent.latency_ms


_FIELD_COUNT = len(fields(EpisodeState))
_new = object.__new__
_put_values = EpisodeState.__dict__["__dict__"].__set__


def evolve(state: EpisodeState, /, **changes: Any) -> EpisodeState:
    """`dataclasses.replace` for the one state that changes several times a step: a tenth of its price.

    `replace` calls the constructor with every field by name; this copies the fields and puts in the changes.
    """
    values = state.__dict__ | changes
    if len(values) != _FIELD_COUNT:
        raise TypeError(f"no such field: {', '.join(sorted(changes.keys() - state.__dict__.keys()))}")
    new = _new(EpisodeState)
    _put_values(new, values)
    return new
