"""A hard cap on real money: what a call may cost at worst is set aside before it is sent."""

from __future__ import annotations

import threading
from typing import Final

from TokenOptEnv.errors import CapReached
from TokenOptEnv.models import ModelCard
from TokenOptEnv.simulators.backend import RouteUsage

_PICO_PER_NANO: Final = 1_000
_TEMPLATE_TOKENS: Final = 64
"""For each message: what a chat template may put around it."""


class SpendingCap:
    """Threads share it: what one has set aside, another cannot spend."""

    def __init__(self, cap_nano_usd: int, spent_nano_usd: int) -> None:
        self._cap = cap_nano_usd
        self._gone = spent_nano_usd
        """Spent, or set aside."""
        self._turn = threading.Lock()

    def reserve(self, worst_nano_usd: int) -> None:
        with self._turn:
            if self._gone + worst_nano_usd > self._cap:
                left = max(0, self._cap - self._gone)
                raise CapReached(
                    f"the next call may cost {_usd(worst_nano_usd)}, and {_usd(left)} is left of the cap of"
                    f" {_usd(self._cap)}; what was answered is recorded: raise the cap and run again to go on"
                )
            self._gone += worst_nano_usd

    def settle(self, reserved_nano_usd: int, paid_nano_usd: int) -> None:
        with self._turn:
            self._gone += paid_nano_usd - reserved_nano_usd


def worst_nano_usd(card: ModelCard, messages: tuple[str, ...], completion_tokens: int) -> int:
    """No tokeniser makes more tokens of a text than it has bytes; nothing is taken for cached."""
    prompt = sum(len(text.encode()) + _TEMPLATE_TOKENS for text in messages)
    dearest = max(card.input_pico_usd, card.cache_write_pico_usd)
    return _nano(prompt * dearest + completion_tokens * card.output_pico_usd)


def paid_nano_usd(card: ModelCard, usage: RouteUsage) -> int:
    fresh = usage.prompt_tokens - usage.cached_tokens
    return _nano(
        fresh * card.input_pico_usd
        + usage.cached_tokens * card.cache_read_pico_usd
        + usage.completion_tokens * card.output_pico_usd
    )


def _nano(pico_usd: int) -> int:
    return -(-pico_usd // _PICO_PER_NANO)


def _usd(nano_usd: int) -> str:
    return f"${nano_usd / 1e9:.6f}"
