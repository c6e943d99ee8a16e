"""A number of tokens to be spent on lines."""

from __future__ import annotations

from collections.abc import Sequence

from TokenOptEnv.config import YARDSTICK
from TokenOptEnv.simulators import tokens


def line_tokens(lines: Sequence[str]) -> int:
    """The tokens of whole lines, each with its line break."""
    return sum(tokens.count(YARDSTICK, line + "\n") for line in lines)


class Budget:
    def __init__(self, tokens_left: int) -> None:
        self.left = tokens_left

    def take(self, lines: Sequence[str], instead_of: Sequence[str] = ()) -> bool:
        """Spend what `lines` cost more than the lines they replace, if there is that much left."""
        price = line_tokens(lines) - line_tokens(instead_of)
        if price > self.left:
            return False
        self.left -= price
        return True
