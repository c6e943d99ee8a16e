"""What an accepted action does: one function per move, state in, state and typed payload out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

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
from TokenOptEnv.transitions.effect import Effect, refused
from TokenOptEnv.world import VisibleWorld

__all__ = ["Effect", "apply"]


_EFFECTS: Final[Mapping[type[Move], Callable[[EpisodeState, Any, VisibleWorld], Effect]]] = {
    ReadWhole: reading.read_whole,
    Preview: reading.preview,
    Search: reading.search,
    QueryCache: reading.query_cache,
    Hydrate: reading.hydrate,
    Purge: keeping.purge,
    Compress: keeping.compress,
    WriteCheckpoint: keeping.write_checkpoint,
    RestoreCheckpoint: keeping.restore_checkpoint,
    Submit: answering.submit,
    Refused: refused,
}
"""Of each move but one: only a route has anything to ask of the hidden world."""


def apply(state: EpisodeState, move: Move, visible: VisibleWorld, backend: Backend) -> Effect:
    if isinstance(move, Route):
        return routing.route(state, move, visible, backend)
    return _EFFECTS[type(move)](state, move, visible)
