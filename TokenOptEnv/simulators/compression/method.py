"""What a compressor is, and what holds for every one of them whatever its algorithm does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite

from TokenOptEnv.config import YARDSTICK
from TokenOptEnv.simulators import tokens

Rewrite = Callable[[str, int, str], str]
"""Takes a text, the tokens wanted and a query; returns the rewritten text, or nothing where no line fits."""


@dataclass(frozen=True, slots=True)
class Method:
    name: str
    describes: str
    """One line: what it keeps and what for."""
    rewrite: Rewrite

    def compress(self, text: str, target_ratio: float, query: str) -> str:
        """`text` at about `target_ratio` of its size in yardstick tokens.

        The ratio is a wish: a method that has nothing more to leave out stays above it, one that has said all it
        has to say stays below. Never longer than `text`, in tokens or characters, and never empty unless `text` is.
        """
        return _compressed(self.rewrite, text, target_ratio, query)


@lru_cache(maxsize=4_096)
def _compressed(rewrite: Rewrite, text: str, target_ratio: float, query: str) -> str:
    size = tokens.count(YARDSTICK, text)
    wanted = max(1, int(size * min(1.0, max(0.0, target_ratio)))) if isfinite(target_ratio) else size
    rewritten = rewrite(text, wanted, query) or tokens.clip(YARDSTICK, text, wanted)
    fits = len(rewritten) <= len(text) and tokens.count(YARDSTICK, rewritten) <= size
    return rewritten if rewritten and fits else text
