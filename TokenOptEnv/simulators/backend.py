"""The one interface behind which models answer: simulated here, recorded and live in `backends/`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from TokenOptEnv.episode_state import ContextPiece
from TokenOptEnv.models import Effort
from TokenOptEnv.scenario import PublicScenario

__all__ = ["Backend", "ContextPiece", "RouteReply", "RouteRequest", "RouteUsage", "WaitingBackend"]


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
    public: PublicScenario | None = None
    """The task as anybody may see it; a backend made for one scenario knows it already."""


@dataclass(frozen=True, slots=True)
class RouteUsage:
    """What a real call took, as its server counted it."""

    prompt_tokens: int
    cached_tokens: int
    """The part of the prompt that the provider read from its cache."""
    completion_tokens: int
    """Reasoning included."""


@dataclass(frozen=True, slots=True)
class RouteReply:
    """`values` is empty when the model says that the evidence does not suffice."""

    values: dict[str, str]
    text: str
    confidence: float
    cites: tuple[str, ...]
    """Segment ids, all of them among the sources of the context."""
    reasoning_tokens: int
    usage: RouteUsage | None = None
    """Billed as it stands; without it the bill follows from the texts and the model's card."""


class Backend(Protocol):
    def answer(self, request: RouteRequest) -> RouteReply: ...


@runtime_checkable
class WaitingBackend(Backend, Protocol):
    """Its answers come over a network: whoever serves several sessions lets a step of it wait in a thread."""

    @property
    def waits(self) -> Literal[True]: ...
