"""The public card of a model: prices, limits and cache rule, as its provider publishes them."""

from __future__ import annotations

from enum import StrEnum

from TokenOptEnv.models.base import Frozen


class Tier(StrEnum):
    SMALL = "small"
    MID = "mid"
    FRONTIER = "frontier"


class Effort(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class CacheRule(Frozen):
    """How a provider's prompt cache bills a shared prefix.

    A prefix shorter than `min_tokens` is never cached; longer ones count in whole `block_tokens`;
    an entry lives `ttl_ms` after its last use. `writes_cost` says whether fresh input that becomes
    cached is billed at the write price.
    """

    min_tokens: int
    block_tokens: int
    ttl_ms: int
    writes_cost: bool


class ModelCard(Frozen):
    model_id: str
    name: str
    provider: str
    """Who made the model; others may serve it."""
    tier: Tier
    input_pico_usd: int
    """Per token: 1 usd per million tokens is 1,000,000 pico-dollars per token."""
    output_pico_usd: int
    cache_read_pico_usd: int
    cache_write_pico_usd: int
    """Both cache prices equal the input price where a provider has none: a bill never needs a special case."""
    context_window_tokens: int
    cache_rule: CacheRule | None
    vocabulary: str
    vocabulary_permille: int
    """Tokens of the model per 1,000 of `vocabulary`: 1000 where it is the model's own, or its public sibling's;
    else an estimate."""
    reasoning_tokens: dict[Effort, int]
    """Hidden reasoning billed as output, by effort: the most a call can take."""
    first_token_ms: int
    output_tokens_per_s: int
    """Both latency figures are round estimates of a typical call."""
    behaviour_note: str
    """`measured`, with the source, or `borrowed`, with the model it is borrowed from."""


class CatalogStamp(Frozen):
    """Where the prices come from; stamped in every result."""

    catalog: str
    version: str
    date: str
    package: str
    package_version: str
