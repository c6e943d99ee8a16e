"""What a transition hands on: the new state, what the agent is told, and the call to be billed."""

from __future__ import annotations

from typing import NamedTuple

from TokenOptEnv.episode_state import EpisodeState
from TokenOptEnv.ledger import Call
from TokenOptEnv.models import AnyPayload, RefusedPayload
from TokenOptEnv.moves import Refused
from TokenOptEnv.world import VisibleWorld

_REFUSED = RefusedPayload()


class Effect(NamedTuple):
    state: EpisodeState
    payload: AnyPayload
    call: Call | None = None


def refused(state: EpisodeState, move: Refused, visible: VisibleWorld) -> Effect:
    return Effect(state, _REFUSED)
