"""What a task asks: answer fields and subtasks."""

from __future__ import annotations

from enum import StrEnum

from TokenOptEnv.models.base import Frozen


class ArtifactKind(StrEnum):
    LOG = "log"
    CODE = "code"
    CONFIG = "config"
    METRICS = "metrics"
    TRACE = "trace"
    DIFF = "diff"
    TICKET = "ticket"
    RUNBOOK = "runbook"
    TEST_REPORT = "test_report"
    CHAT = "chat"
    HISTORY = "history"


class FieldKind(StrEnum):
    CHOICE = "choice"
    """One of `choices`."""
    TEXT = "text"
    """An identifier or short phrase, compared without case and surrounding white space."""
    PATCH = "patch"
    """A unified diff, graded by running hidden tests."""


class AnswerField(Frozen):
    name: str
    question: str
    kind: FieldKind
    choices: tuple[str, ...] = ()


class Slot(Frozen):
    """A blank in a subtask's question that only an earlier finding fills."""

    name: str
    from_subtask_id: str


class Subtask(Frozen):
    """A question that can be routed. `question` holds `{slot.name}` where it has a slot.

    `fields` names what its finding yields: answer fields, or the slot value that a later subtask needs.
    """

    subtask_id: str
    question: str
    fields: tuple[str, ...]
    slot: Slot | None = None
