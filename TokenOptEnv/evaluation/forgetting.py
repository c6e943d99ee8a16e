"""What a long run must not keep.

Each room remembers the scenarios it has seen last, and worlds, plans and indexes with them: over hundreds of cases
that is gigabytes. A run visits a case once, so it forgets them all now and then.
"""

from __future__ import annotations

import sys
from functools import _lru_cache_wrapper

from TokenOptEnv import scenario_store

_MOST_SCENARIOS = 24
_PACKAGE = "TokenOptEnv"


def forget_if_many() -> None:
    """Once so many scenarios are in memory, empty every cache that has a bound: what has none is small and for good."""
    if scenario_store.load.cache_info().currsize <= _MOST_SCENARIOS:
        return
    for name, module in list(sys.modules.items()):
        if name.split(".", 1)[0] == _PACKAGE:
            for value in vars(module).values():
                if isinstance(value, _lru_cache_wrapper) and value.cache_parameters()["maxsize"] is not None:
                    value.cache_clear()
