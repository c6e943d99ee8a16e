"""What a policy is. A fresh one plays each episode, so whatever it remembers is of that episode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvObservation


class Policy(Protocol):
    def act(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction: ...


@dataclass(frozen=True, slots=True)
class PolicyInfo:
    """A module that defines `POLICY` as one of these is found and offered."""

    name: str
    describes: str
    make: Callable[[int], Policy]
    """A fresh policy for one episode, from a seed of its own."""
    knows_truth: bool = False
    """It reads the hidden half: a yardstick to compare with, never a contestant."""
