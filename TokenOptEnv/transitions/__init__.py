"""What an accepted action does: one function per move, state in, state and typed payload out."""

from __future__ import annotations

from typing import assert_never

from TokenOptEnv.episode_state import EpisodeState
from TokenOptEnv.moves import (
    Compress,
    Hydrate,
    Move,
    Preview,
    Purge,
    QueryCache,
    ReadWhole,
    Refused,
    RestoreCheckpoint,
    Route,
    Search,
    Submit,
    WriteCheckpoint,
)
from TokenOptEnv.simulators.backend import Backend
from TokenOptEnv.transitions import answering, keeping, reading, routing
from TokenOptEnv.transitions.effect import Effect
from TokenOptEnv.world import VisibleWorld

__all__ = ["Effect", "apply"]


def apply(state: EpisodeState, move: Move, visible: VisibleWorld, backend: Backend) -> Effect:
    match move:
        case ReadWhole():
            return reading.read_whole(state, move, visible)
        case Preview():
            return reading.preview(state, move, visible)
        case Search():
            return reading.search(state, move, visible)
        case QueryCache():
            return reading.query_cache(state, move, visible)
        case Hydrate():
            return reading.hydrate(state, move, visible)
        case Purge():
            return keeping.purge(state, move)
        case Compress():
            return keeping.compress(state, move, visible)
        case WriteCheckpoint():
            return keeping.write_checkpoint(state, move)
        case RestoreCheckpoint():
            return keeping.restore_checkpoint(state, move, visible)
        case Route():
            return routing.route(state, move, visible, backend)
        case Submit():
            return answering.submit(state, move)
        case Refused():
            return Effect.refused(state)
        case _ as never:
            assert_never(never)
