"""How often somebody may ask: a bucket that refills at the rate and holds one second of it.

The clock only ever goes forward, so setting the machine's time changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

_MOST_KEPT: Final = 4_096


class Bucket:
    def __init__(self, per_second: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._clock = clock
        self._left = float(per_second)
        self._looked_s = clock()

    def wait_s(self) -> float:
        """Take one; how long until it is due, 0 where it is due now."""
        now_s = self._clock()
        self._left = min(self._per_second, self._left + (now_s - self._looked_s) * self._per_second) - 1
        self._looked_s = now_s
        return max(0.0, -self._left / self._per_second)

    def is_due(self) -> bool:
        """Take one where it is due now, and else none: who is turned away owes nothing."""
        if self.wait_s() == 0:
            return True
        self._left += 1
        return False


class Buckets:
    """One for each address. Bounded: who asked longest ago is forgotten first, and begins again with a full one."""

    def __init__(self, per_second: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._clock = clock
        self._kept: dict[str, Bucket] = {}

    def is_due(self, who: str) -> bool:
        bucket = self._kept.pop(who, None) or Bucket(self._per_second, self._clock)
        self._kept[who] = bucket
        if len(self._kept) > _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return bucket.is_due()

    def __len__(self) -> int:
        return len(self._kept)
