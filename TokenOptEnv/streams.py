"""Named random streams: every draw is a pure function of what it is for.

A draw keyed by names cannot depend on call order, process or hash seed, and two neighbouring
seeds share nothing, which `seed + i` into one generator does not give.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from statistics import NormalDist
from typing import TypeVar

T = TypeVar("T")

_NORMAL = NormalDist()
_TWO_64 = float(1 << 64)


def word(*key: str | int) -> int:
    """A 64-bit word for `key`."""
    text = "\x1f".join(str(part) for part in key)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def uniform(*key: str | int) -> float:
    """A float strictly between 0 and 1 for `key`."""
    return (word(*key) + 0.5) / (_TWO_64 + 1.0)


def normal(*key: str | int) -> float:
    """A standard normal for `key`, rounded so that machines with other maths libraries agree."""
    return round(_NORMAL.inv_cdf(uniform(*key)), 9)


class Stream:
    """A sequence of draws under one name, for writers that need many."""

    def __init__(self, *key: str | int) -> None:
        self._key = "\x1f".join(str(part) for part in key)
        self._drawn = 0

    def _next(self) -> int:
        self._drawn += 1
        return word(self._key, self._drawn)

    def random(self) -> float:
        return (self._next() + 0.5) / (_TWO_64 + 1.0)

    def integer(self, low: int, high: int) -> int:
        """An integer in [low, high], both included."""
        return low + self._next() % (high - low + 1)

    def choice(self, options: Sequence[T]) -> T:
        return options[self._next() % len(options)]

    def normal(self) -> float:
        return round(_NORMAL.inv_cdf(self.random()), 9)

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def hex(self, digits: int) -> str:
        text = ""
        while len(text) < digits:
            text += f"{self._next():016x}"
        return text[:digits]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        keyed = [(self._next(), index) for index in range(len(items))]
        return [items[index] for _, index in sorted(keyed)]
