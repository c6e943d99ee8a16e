"""What a transition hands on: the new state, what the agent is told, and the call to be billed."""

from __future__ import annotations

from typing import NamedTuple

from TokenOptEnv.episode_state import EpisodeState
from TokenOptEnv.ledger import Call
from TokenOptEnv.models import AnyPayload, RefusedPayload

_REFUSED = RefusedPayload()


class Effect(NamedTuple):
    state: EpisodeState
    payload: AnyPayload
    call: Call | None = None

    @classmethod
    def refused(cls, state: EpisodeState) -> Effect:
        return cls(state, _REFUSED)
