"""One model of a catalog, as its builder is told about it.

Prices come from the price package (`build.py`). What stands in a spec is either published by the provider
(windows, cache rules) or a stated estimate (vocabulary factors of closed models, reasoning tokens of a
short answer, latency). `docs/models.md` gives the reasons.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from TokenOptEnv.models.card import CacheRule, Tier

PRICE_PACKAGE: Final = "genai-prices"

CLAUDE_4_PERMILLE: Final = 1_200
CLAUDE_5_PERMILLE: Final = 1_400
"""Claude's vocabularies are not public: estimates, in tokens per 1,000 of o200k_base."""


@dataclass(frozen=True, slots=True)
class PriceRow:
    """A row of the price package."""

    provider_id: str
    row_id: str

    @property
    def source(self) -> str:
        return f"{PRICE_PACKAGE}: {self.provider_id}/{self.row_id}"


@dataclass(frozen=True, slots=True)
class Price:
    """In usd per million tokens, as decimal text. Written by hand where the package has no row of that time."""

    source: str
    input_usd: str
    output_usd: str
    cache_read_usd: str | None = None
    cache_write_usd: str | None = None


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The most hidden (or written-out) reasoning a short answer takes, in tokens, by effort."""

    low: int
    medium: int
    high: int


@dataclass(frozen=True, slots=True)
class ModelSpec:
    model_id: str
    name: str
    provider: str
    tier: Tier
    price: PriceRow | Price
    window_tokens: int
    cache_rule: CacheRule | None
    vocabulary: str
    reasoning: Reasoning
    first_token_ms: int
    output_tokens_per_s: int
    permille: int = 1_000
