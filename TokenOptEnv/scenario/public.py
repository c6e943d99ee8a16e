"""The visible half of a scenario: what an agent can find out by acting."""

from __future__ import annotations

from TokenOptEnv.config import Difficulty
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.models.task import AnswerField, ArtifactKind, Subtask


class Segment(Frozen):
    """A chunk of an artifact: consecutive whole lines, at most 300 tokens.

    `title` is the line an outline shows for it.
    """

    segment_id: str
    title: str
    text: str


class Artifact(Frozen):
    artifact_id: str
    kind: ArtifactKind
    title: str
    segments: tuple[Segment, ...]


class CacheEntry(Frozen):
    """An earlier result. `version` and `age_hours` are what staleness can be told from."""

    entry_id: str
    subtask_id: str
    question: str
    text: str
    values: dict[str, str]
    version: str
    age_hours: int
    cites: tuple[str, ...]


class Phase(Frozen):
    """A leg of a marathon. At its end memory, surfaced ids and unsaved findings are gone."""

    phase_id: str
    brief: str
    artifact_ids: tuple[str, ...]
    subtask_ids: tuple[str, ...]
    steps: int


class PublicScenario(Frozen):
    scenario_id: str
    family: str
    difficulty: Difficulty
    title: str
    brief: str
    version: str
    """What is deployed or checked out now: a cached result of another version is not about this."""
    answer_fields: tuple[AnswerField, ...]
    subtasks: tuple[Subtask, ...]
    artifacts: tuple[Artifact, ...]
    cache_entries: tuple[CacheEntry, ...]
    menus: dict[str, tuple[str, ...]]
    """Model ids offered, by catalog."""
    segment_tokens: dict[str, tuple[int, ...]]
    """By vocabulary: the count of every segment, in the order of `artifacts` and their segments."""
    phases: tuple[Phase, ...] = ()
    price_table: str = "list"
    """What the market charges here (`catalog.price_tables`)."""
