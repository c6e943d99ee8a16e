"""What a policy is. A fresh one plays each episode, so whatever it remembers is of that episode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.models.base import Frozen


class Policy(Protocol):
    def act(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction: ...


class ModelUsage(Frozen):
    """What a policy that asks a language model really used, as the model's server counts it."""

    calls: int
    prompt_tokens: int
    cached_tokens: int
    """The part of the prompt tokens that the server read from its cache."""
    completion_tokens: int

    @classmethod
    def total(cls, *used: ModelUsage) -> ModelUsage:
        """Of none: nothing used."""
        return cls(**{name: sum(getattr(each, name) for each in used) for name in cls.model_fields})


@runtime_checkable
class Metered(Protocol):
    """A policy with a meter: its real usage is reported beside the bill of the environment, never instead of it."""

    @property
    def usage(self) -> ModelUsage: ...


@dataclass(frozen=True, slots=True)
class PolicyInfo:
    """A module that defines `POLICY` as one of these is found and offered."""

    name: str
    describes: str
    make: Callable[[int], Policy]
    """A fresh policy for one episode, from a seed of its own."""
    knows_truth: bool = False
    """It reads the hidden half: a yardstick to compare with, never a contestant."""
    is_guest: bool = False
    """Not written here: it is handed copies, so that nothing it does to what it is shown reaches the engine."""


@dataclass(frozen=True, slots=True)
class PolicyScheme:
    """Policies named `scheme:rest`. A module that defines `SCHEME` as one of these is found and offered."""

    scheme: str
    takes: str
    """What stands after the colon, in capitals."""
    describes: str
    resolve: Callable[[str], PolicyInfo]
    """The policy that `rest` names; one clear error where it names none."""
    members: Callable[[], tuple[str, ...]] = tuple
    """What `rest` may be, where that can be listed."""
