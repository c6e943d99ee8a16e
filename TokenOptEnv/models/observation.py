"""What the agent is shown after each step. Every field follows from what it was shown before, until the end."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from TokenOptEnv.config import Difficulty, Profile, RewardMode, Track
from TokenOptEnv.models.action import ActionType
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.models.card import ModelCard
from TokenOptEnv.models.payloads import AnyPayload, SegmentHandle
from TokenOptEnv.models.refusal import Refusal
from TokenOptEnv.models.task import AnswerField, ArtifactKind, Subtask


class TaskBrief(Frozen):
    scenario_id: str
    family: str
    difficulty: Difficulty
    profile: Profile
    track: Track
    title: str
    brief: str
    version: str
    phase: int
    phases: int
    phase_ends_at_step: int | None
    answer_fields: tuple[AnswerField, ...]
    subtasks: tuple[Subtask, ...]


class ArtifactHandle(Frozen):
    artifact_id: str
    alias: int
    kind: ArtifactKind
    title: str
    tokens: int
    segments: int


class ItemKind(StrEnum):
    SEGMENT = "segment"
    PREVIEW = "preview"
    SEARCH = "search"
    CACHE = "cache"
    FINDING = "finding"
    COMPRESSED = "compressed"
    CHECKPOINT = "checkpoint"


class MemoryItem(Frozen):
    """One thing the agent holds. `text` is shown and billed at every step until it is purged."""

    item_id: str
    alias: int
    kind: ItemKind
    label: str
    """What the line over it says: where it comes from, or what it is."""
    text: str
    tokens: int
    source_ids: tuple[str, ...] = ()
    """Segments whose text it holds, wholly or in part."""
    finding_ids: tuple[str, ...] = ()


class WorkingMemory(Frozen):
    items: tuple[MemoryItem, ...]
    token_budget: int | None
    """None: unbounded (profile v1)."""
    token_budget_used: int


class Finding(Frozen):
    """An answer to a subtask, from a model or from the cache."""

    finding_id: str
    source: Literal["route", "cache"]
    subtask_id: str
    values: dict[str, str]
    text: str
    confidence: float
    cites: tuple[str, ...]
    model_id: str | None = None
    route_id: str | None = None
    entry_id: str | None = None
    version: str | None = None
    age_hours: int | None = None


class RouteRecord(Frozen):
    route_id: str
    item_alias: int
    """The number of the memory item its reply became."""
    subtask_id: str
    model_id: str
    effort: str
    context_ids: tuple[str, ...]
    finding_id: str | None
    confidence: float
    nano_usd: int
    latency_ms: int
    escalated_from: str | None = None


class Checkpoint(Frozen):
    checkpoint_id: str
    phase: int
    note: str
    tokens: int
    finding_ids: tuple[str, ...]
    source_ids: tuple[str, ...]


class Budget(Frozen):
    limit: int
    spent: int
    left: int


class Budgets(Frozen):
    tokens: Budget
    nano_usd: Budget
    steps: Budget
    latency_ms: Budget


class LedgerEntry(Frozen):
    """One call, billed: tokens in the model's own vocabulary, money in nano-dollars."""

    step: int
    who: Literal["controller", "worker"]
    model_id: str
    fresh_tokens: int
    cached_tokens: int
    written_tokens: int
    """The part of the fresh tokens billed at the cache-write price."""
    output_tokens: int
    nano_usd: int
    latency_ms: int
    cold_nano_usd: int
    """What the same call would have cost without any prompt cache."""


class ToolResult(Frozen):
    action_type: ActionType
    status: Literal["ok", "refused"]
    payload: AnyPayload
    refusal: Refusal | None = None
    tokens: int = 0
    """What it added to working memory."""


class CacheTelemetry(Frozen):
    queries: int
    hits: int


class CompressionTelemetry(Frozen):
    runs: int
    tokens_before: int
    tokens_after: int


class RoutingTelemetry(Frozen):
    routes: tuple[RouteRecord, ...]
    nano_usd: int


class Milestones(Frozen):
    """`listed_ids` are the process milestones of this profile; truth milestones join at the end."""

    listed_ids: tuple[str, ...]
    achieved_ids: tuple[str, ...]


class GuardrailEvent(Frozen):
    step: int
    guardrail_id: str
    message: str


class LegalField(Frozen):
    """A field of an action: `choices_from` names lists in `LegalActions.choices`; without any the form is free."""

    name: str
    required: bool
    choices_from: tuple[str, ...] = ()
    max_items: int | None = None


class LegalAction(Frozen):
    action_type: ActionType
    fields: tuple[LegalField, ...]


class LegalActions(Frozen):
    """Which action types are possible now, and what each field may hold; never all combinations."""

    actions: tuple[LegalAction, ...]
    choices: dict[str, tuple[str, ...]]


class RewardTerm(Frozen):
    term: str
    value: float


class RewardBreakdown(Frozen):
    """The return so far, by term; `step` is what this step added to it."""

    step: float
    so_far: tuple[RewardTerm, ...]
    total: float


class FieldScore(Frozen):
    name: str
    right: bool
    backed: bool
    grounded: bool


class ScoreBreakdown(Frozen):
    """The end of an episode, explained."""

    success: bool
    fields: tuple[FieldScore, ...]
    evidence_precision: float
    terms: tuple[RewardTerm, ...]
    total_return: float
    cost_nano_usd: int
    routed_nano_usd: int
    reference_nano_usd: int
    sce: float
    truth_milestone_ids: tuple[str, ...]


class Revealed(Frozen):
    """Truth and plan, shown at the end where `reveal` was asked for."""

    answer: dict[str, str]
    evidence_segment_ids: tuple[str, ...]
    reference_plan: tuple[str, ...]


class EndReason(StrEnum):
    SUBMITTED = "submitted"
    STEPS = "steps"
    BUDGET = "budget"
    """The next prompt could not be paid, and the agent did something other than submit."""


class EpisodeStamp(Frozen):
    """What a result must say of itself to be comparable."""

    scoring_version: int
    catalog_version: str
    controller_model: str
    reward_mode: RewardMode
    memory_tokens: int | None
    public_hash: str
    """Of the visible half of the scenario: a hash of the whole would be a fingerprint of the truth."""


class TokenOptEnvObservation(Frozen):
    done: bool = False
    reward: float | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    """Kept empty: nothing that matters travels in it."""
    episode_id: str
    seed: int
    step: int
    stamp: EpisodeStamp
    task: TaskBrief
    artifacts: tuple[ArtifactHandle, ...]
    models: tuple[ModelCard, ...]
    surfaced: tuple[SegmentHandle, ...]
    working_memory: WorkingMemory
    last_tool_result: ToolResult | None
    findings: tuple[Finding, ...]
    """Those held in working memory."""
    checkpoints: tuple[Checkpoint, ...]
    budgets: Budgets
    ledger: tuple[LedgerEntry, ...]
    """The entries of this step."""
    cache: CacheTelemetry
    compression: CompressionTelemetry
    routing: RoutingTelemetry
    milestones: Milestones
    guardrail_events: tuple[GuardrailEvent, ...]
    legal_actions: LegalActions
    must_submit: bool
    """The next prompt cannot be paid: anything but SUBMIT_ANSWER ends the episode."""
    reward_breakdown: RewardBreakdown
    terminated: bool = False
    truncated: bool = False
    end_reason: EndReason | None = None
    score: ScoreBreakdown | None = None
    revealed: Revealed | None = None


class TokenOptEnvState(Frozen):
    """Where a session stands. Nothing in it depends on hidden truth."""

    episode_id: str | None = None
    step_count: int = 0
    scenario_id: str | None = None
    seed: int | None = None
    profile: Profile | None = None
    track: Track | None = None
    done: bool = False
