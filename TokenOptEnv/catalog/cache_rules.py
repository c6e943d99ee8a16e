"""The providers' prompt-cache rules, as published; `docs/models.md` names the sources."""

from __future__ import annotations

from typing import Final

from TokenOptEnv.models.card import CacheRule

_MINUTE_MS: Final = 60_000


def _rule(min_tokens: int, block_tokens: int, minutes: int, writes_cost: bool = False) -> CacheRule:
    return CacheRule(
        min_tokens=min_tokens, block_tokens=block_tokens, ttl_ms=minutes * _MINUTE_MS, writes_cost=writes_cost
    )


OPENAI: Final = _rule(1_024, 128, 5)
OPENAI_PAID_WRITES: Final = _rule(1_024, 128, 30, writes_cost=True)
"""From the GPT-5.6 family on."""
ANTHROPIC_512: Final = _rule(512, 1, 5, writes_cost=True)
ANTHROPIC_1K: Final = _rule(1_024, 1, 5, writes_cost=True)
ANTHROPIC_2K: Final = _rule(2_048, 1, 5, writes_cost=True)
ANTHROPIC_4K: Final = _rule(4_096, 1, 5, writes_cost=True)
GEMINI_2_5: Final = _rule(2_048, 1, 5)
GEMINI_3: Final = _rule(4_096, 1, 5)
DEEPSEEK: Final = _rule(64, 64, 120)
GROQ: Final = _rule(1_024, 128, 120)
QWEN: Final = _rule(1_024, 1, 5)
ASSUMED: Final = _rule(1_024, 128, 5)
"""For a provider that bills cache reads but publishes no further rule (Mistral, Z.ai): as OpenAI's."""
