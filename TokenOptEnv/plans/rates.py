"""What the policy's own doings cost, roughly: enough to try the likely first, never what a plan is said to cost."""

from __future__ import annotations

from TokenOptEnv.world import VisibleWorld, text_tokens

_USUALLY_HELD_TOKENS = 150
_TAIL_TOKENS = 35
_ACTION_TOKENS = 9
_LINE_TOKENS = 36
_PROMPTS_HELD = 3
"""For how many prompts a thing stays, as a rule."""
_PICO_PER_NANO = 1_000


class Rates:
    def __init__(self, visible: VisibleWorld) -> None:
        self._card = visible.controller
        head = max(text_tokens(self._card, phase.head) for phase in visible.phases)
        prompt = head + _USUALLY_HELD_TOKENS + _TAIL_TOKENS
        self.step = self.read(prompt) + _ACTION_TOKENS * self._card.output_pico_usd // _PICO_PER_NANO

    def read(self, tokens: int) -> int:
        return tokens * self._card.input_pico_usd // _PICO_PER_NANO

    def hold(self, tokens: int) -> int:
        return self.read(tokens) * 2

    def lines(self, segments: int) -> int:
        """What surfacing so many segments leaves in memory."""
        return self.read(segments * _LINE_TOKENS * _PROMPTS_HELD)

    def words(self, text: str) -> int:
        return text_tokens(self._card, text) * self._card.output_pico_usd // _PICO_PER_NANO
