"""The one interface behind which models answer: simulated here, recorded and live in `backends/`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from TokenOptEnv.episode_state import ContextPiece
from TokenOptEnv.models import Effort

__all__ = ["Backend", "ContextPiece", "RouteReply", "RouteRequest"]


@dataclass(frozen=True, slots=True)
class RouteRequest:
    subtask_id: str
    question: str
    """With its slot filled."""
    slot_value: str | None
    model_id: str
    effort: Effort
    context: tuple[ContextPiece, ...]
    context_tokens: int
    """In the model's own vocabulary."""


@dataclass(frozen=True, slots=True)
class RouteReply:
    """`values` is empty when the model says that the evidence does not suffice."""

    values: dict[str, str]
    text: str
    confidence: float
    cites: tuple[str, ...]
    """Segment ids, all of them among the sources of the context."""
    reasoning_tokens: int


class Backend(Protocol):
    def answer(self, request: RouteRequest) -> RouteReply: ...
