"""One flat, typed action. Shape is checked here; meaning is judged by `action_rules`, which never raises."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field

from TokenOptEnv.models.base import Frozen


class ActionType(StrEnum):
    READ_ARTIFACT = "READ_ARTIFACT"
    QUERY_CACHE = "QUERY_CACHE"
    COMPRESS_CONTEXT = "COMPRESS_CONTEXT"
    ROUTE_SUBTASK = "ROUTE_SUBTASK"
    SUBMIT_ANSWER = "SUBMIT_ANSWER"
    SEARCH_ARTIFACTS = "SEARCH_ARTIFACTS"
    HYDRATE_SEGMENTS = "HYDRATE_SEGMENTS"
    PURGE_MEMORY = "PURGE_MEMORY"
    WRITE_CHECKPOINT = "WRITE_CHECKPOINT"
    RESTORE_CHECKPOINT = "RESTORE_CHECKPOINT"
    ESCALATE_ROUTE = "ESCALATE_ROUTE"
    MALFORMED = "MALFORMED"
    """What a text policy sends when its output cannot be parsed; refused like any bad action."""


V1_ACTIONS = (
    ActionType.READ_ARTIFACT,
    ActionType.QUERY_CACHE,
    ActionType.COMPRESS_CONTEXT,
    ActionType.ROUTE_SUBTASK,
    ActionType.SUBMIT_ANSWER,
)
V2_ACTIONS = (
    *V1_ACTIONS,
    ActionType.SEARCH_ARTIFACTS,
    ActionType.HYDRATE_SEGMENTS,
    ActionType.PURGE_MEMORY,
    ActionType.WRITE_CHECKPOINT,
    ActionType.RESTORE_CHECKPOINT,
    ActionType.ESCALATE_ROUTE,
)


class TokenOptEnvAction(Frozen):
    """Fields that an action type does not take are ignored by it."""

    action_type: ActionType
    artifact_id: str | None = None
    page: int | None = None
    query: str | None = None
    top_k: int | None = None
    context_segment_ids: tuple[str, ...] = ()
    """Segment ids, or ids of other items in working memory."""
    method: str | None = None
    target_ratio: float | None = None
    subtask_id: str | None = None
    model_id: str | None = None
    effort: str | None = None
    answer: dict[str, str] | None = None
    finding_ids: tuple[str, ...] = ()
    evidence_segment_ids: tuple[str, ...] = ()
    note: str | None = None
    checkpoint_id: str | None = None
    route_id: str | None = None
    raw_text: str | None = None
    """MALFORMED: the output that could not be parsed."""
    reasoning_tokens: int = 0
    """Hidden tokens the policy spent on this decision, billed as output."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """Free for the caller; never read."""
