"""The ledger against what providers charge: conversations worked out from their published rules, as data."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from TokenOptEnv.catalog import load_catalog
from TokenOptEnv.episode_state import InputQuote, PrefixCache, PromptPiece
from TokenOptEnv.ledger import charge, quote_input
from TokenOptEnv.models import CacheRule, ModelCard

CONVERSATIONS = json.loads((Path(__file__).parent / "data" / "provider_usage.json").read_text())["conversations"]
AS_BILLED = [talk for talk in CONVERSATIONS if "1-hour" not in talk["name"] and talk["card"] is not None]
"""Those whose card and rule the catalog has: it writes to caches for five minutes, as agents do."""
conversations = pytest.mark.parametrize("talk", CONVERSATIONS, ids=lambda talk: talk["name"])


def _pico(usd_per_million: str) -> int:
    return int(Decimal(usd_per_million) * 1_000_000)


def _card(talk: dict[str, Any]) -> ModelCard:
    """Prices and rule as the provider publishes them; the rest of the card plays no part in a bill."""
    prices, rule = talk["usd_per_million"], talk["rule"]
    return (
        load_catalog("measured")
        .card(talk["card"] or "gpt-5")
        .model_copy(
            update={
                "input_pico_usd": _pico(prices["input"]),
                "output_pico_usd": _pico(prices["output"]),
                "cache_read_pico_usd": _pico(prices["read"]),
                "cache_write_pico_usd": _pico(prices["write"] or prices["input"]),
                "cache_rule": CacheRule(
                    min_tokens=rule["min_tokens"],
                    block_tokens=rule["block_tokens"],
                    ttl_ms=rule["ttl_s"] * 1_000,
                    writes_cost=rule["writes_cost"],
                ),
            }
        )
    )


def _quotes(card: ModelCard, talk: dict[str, Any]) -> list[InputQuote]:
    held: PrefixCache | None = None
    quotes: list[InputQuote] = []
    for call in talk["calls"]:
        pieces = tuple(PromptPiece(key, tokens) for key, tokens in call["prompt"])
        quotes.append(quote_input(card, pieces, held, call["at_s"] * 1_000))
        held = PrefixCache(pieces, call["at_s"] * 1_000)
    return quotes


@conversations
def test_the_ledger_counts_fresh_read_and_written_tokens_as_the_provider_does(talk: dict[str, Any]) -> None:
    for quote, call in zip(_quotes(_card(talk), talk), talk["calls"], strict=True):
        counted = (quote.fresh_tokens - quote.written_tokens, quote.cached_tokens, quote.written_tokens)
        assert counted == (call["fresh"], call["read"], call["write"])


@conversations
def test_the_ledger_bills_within_a_percent_of_the_provider(talk: dict[str, Any]) -> None:
    card = _card(talk)
    for quote, call in zip(_quotes(card, talk), talk["calls"], strict=True):
        usd = charge(card, quote, call["output"]).nano_usd / 1e9
        assert abs(usd - call["usd"]) <= 0.01 * call["usd"]


@pytest.mark.parametrize("talk", AS_BILLED, ids=lambda talk: talk["name"])
def test_the_catalog_holds_the_prices_and_the_rule_that_the_provider_publishes(talk: dict[str, Any]) -> None:
    assert load_catalog("measured").card(talk["card"]) == _card(talk)


@pytest.mark.parametrize(
    "talk", [talk for talk in CONVERSATIONS if talk["price_row"]], ids=lambda talk: str(talk["name"])
)
def test_the_price_package_charges_the_same_for_the_same_usage(talk: dict[str, Any]) -> None:
    """An independent calculator, fed with the usage that the provider would report."""
    genai_prices = pytest.importorskip("genai_prices")
    provider_id, row_id = talk["price_row"]
    day = datetime.fromisoformat(load_catalog("measured").stamp.date).replace(hour=12, tzinfo=UTC)
    for call in talk["calls"]:
        usage = genai_prices.Usage(
            input_tokens=call["fresh"] + call["read"] + call["write"],
            cache_read_tokens=call["read"],
            cache_write_tokens=call["write"],
            output_tokens=call["output"],
        )
        priced = genai_prices.calc_price(usage, row_id, provider_id=provider_id, genai_request_timestamp=day)
        assert abs(float(priced.total_price) - call["usd"]) <= 0.01 * call["usd"]
