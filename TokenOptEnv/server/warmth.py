"""Which kinds of episode have begun before in this process, and are therefore fast.

Scenarios once loaded and plans once made are kept: what may take seconds the first time takes microseconds after
it. The first reset of a kind goes to a thread and makes all that its episode will need, lest it hold up every
other session. Everything else runs on the event loop, because a thread that shares the interpreter with a
busy loop slows both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from TokenOptEnv.world import world_index

_LONGEST_KEY: Final = 300
_MOST_KEYS: Final = 4_096


class Warmth:
    """Asked on the event loop alone. Forgetting costs one needless thread, so it forgets all at once."""

    def __init__(self) -> None:
        self._begun: set[str] = set()

    def is_first(self, seed: object, options: Mapping[str, Any]) -> bool:
        named = options.get("scenario_id") is not None or options.get("index") is not None
        world = world_index(seed) if named and isinstance(seed, int) else seed
        key = repr((world, sorted(options.items())))[:_LONGEST_KEY]
        if key in self._begun:
            return False
        if len(self._begun) >= _MOST_KEYS:
            self._begun.clear()
        self._begun.add(key)
        return True
