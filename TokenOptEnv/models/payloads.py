"""What each tool returns: one typed payload per action type, told apart by `kind`.

A payload can also be read by key (`payload["access_mode"]`), so code written against the JSON on
the wire and code written against the types look the same.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from TokenOptEnv.models.base import Frozen


class Payload(Frozen):
    def __getitem__(self, name: str) -> Any:
        if name in type(self).model_fields:
            return getattr(self, name)
        raise KeyError(name)


class SegmentHandle(Frozen):
    """A segment the agent has been shown, and may ask for."""

    segment_id: str
    alias: int
    tokens: int


class OutlineLine(Frozen):
    segment_id: str
    alias: int
    tokens: int
    title: str


class ReadPayload(Payload):
    kind: Literal["read"] = "read"
    artifact_id: str
    access_mode: Literal["full", "preview"]
    page: int
    pages: int
    artifact_tokens: int
    preview_segment_ids: tuple[str, ...]
    outline: tuple[OutlineLine, ...]
    item_ids: tuple[str, ...]


class SearchHit(Frozen):
    segment_id: str
    alias: int
    tokens: int
    score: float
    snippet: str


class SearchPayload(Payload):
    kind: Literal["search"] = "search"
    query: str
    hits: tuple[SearchHit, ...]
    item_ids: tuple[str, ...]


class HydratePayload(Payload):
    kind: Literal["hydrate"] = "hydrate"
    item_ids: tuple[str, ...]
    tokens_added: int


class PurgePayload(Payload):
    kind: Literal["purge"] = "purge"
    purged_ids: tuple[str, ...]
    tokens_freed: int


class CompressPayload(Payload):
    kind: Literal["compress"] = "compress"
    method: str
    item_ids: tuple[str, ...]
    source_ids: tuple[str, ...]
    tokens_before: int
    tokens_after: int


class CacheHit(Frozen):
    entry_id: str
    finding_id: str
    subtask_id: str
    question: str
    similarity: float
    version: str
    age_hours: int
    cites: tuple[str, ...]


class CachePayload(Payload):
    kind: Literal["cache"] = "cache"
    query: str
    hits: tuple[CacheHit, ...]
    item_ids: tuple[str, ...]


class RoutePayload(Payload):
    """`finding_id` is None when the model said that the evidence does not suffice."""

    kind: Literal["route"] = "route"
    route_id: str
    subtask_id: str
    model_id: str
    finding_id: str | None
    values: dict[str, str]
    text: str
    confidence: float
    cites: tuple[str, ...]
    nano_usd: int
    latency_ms: int
    item_ids: tuple[str, ...]


class CheckpointPayload(Payload):
    kind: Literal["checkpoint"] = "checkpoint"
    checkpoint_id: str
    tokens: int


class RestorePayload(Payload):
    kind: Literal["restore"] = "restore"
    checkpoint_id: str
    finding_ids: tuple[str, ...]
    item_ids: tuple[str, ...]


class SubmitPayload(Payload):
    kind: Literal["submit"] = "submit"
    answer: dict[str, str]
    finding_ids: tuple[str, ...]
    evidence_segment_ids: tuple[str, ...]


class RefusedPayload(Payload):
    kind: Literal["refused"] = "refused"


AnyPayload = Annotated[
    ReadPayload
    | SearchPayload
    | HydratePayload
    | PurgePayload
    | CompressPayload
    | CachePayload
    | RoutePayload
    | CheckpointPayload
    | RestorePayload
    | SubmitPayload
    | RefusedPayload,
    Field(discriminator="kind"),
]
