"""Makes a catalog's snapshot from the installed price package. For the refresh command; never imported by the core.

A snapshot is frozen on purpose: a run must cost the same next year, whatever the package says then.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from importlib.metadata import version
from typing import Any

from TokenOptEnv.catalog.roster import ROSTERS
from TokenOptEnv.catalog.snapshot import CardsFile
from TokenOptEnv.catalog.spec import PRICE_PACKAGE, SNAPSHOT_DATE, ModelSpec, Price, PriceRow
from TokenOptEnv.errors import BadInput, UnknownName
from TokenOptEnv.models.card import CatalogStamp, Effort, ModelCard

_PICO_PER_TOKEN = Decimal(1_000_000)
"""Pico-dollars per token in one dollar per million tokens."""


def build_cards(catalog_name: str) -> tuple[CatalogStamp, tuple[ModelCard, ...]]:
    if catalog_name not in ROSTERS:
        raise UnknownName("catalog", catalog_name, ROSTERS, "camre catalog show")
    stamp = CatalogStamp(
        catalog=catalog_name,
        version=f"{catalog_name}-{SNAPSHOT_DATE:%Y.%m}",
        date=SNAPSHOT_DATE.isoformat(),
        package=PRICE_PACKAGE,
        package_version=version(PRICE_PACKAGE),
    )
    return stamp, tuple(_card(spec) for spec in ROSTERS[catalog_name])


def snapshot_text(catalog_name: str) -> str:
    """The bytes of `data/{catalog_name}.json`, as text."""
    stamp, cards = build_cards(catalog_name)
    sources = {spec.model_id: spec.price.source for spec in ROSTERS[catalog_name]}
    return CardsFile(stamp=stamp, cards=cards, price_sources=sources).model_dump_json(indent=1) + "\n"


def _card(spec: ModelSpec) -> ModelCard:
    price = spec.price if isinstance(spec.price, Price) else _looked_up(spec.price)
    input_pico = _pico(price.input_usd)
    caches = spec.cache_rule is not None
    if caches and price.cache_read_usd is None:
        raise BadInput(f"{spec.model_id}: a cache rule but no cache price in {price.source}; drop the rule")
    writes_cost = spec.cache_rule is not None and spec.cache_rule.writes_cost
    if writes_cost != (price.cache_write_usd is not None):
        raise BadInput(
            f"{spec.model_id}: the cache rule and the write price in {price.source} disagree; correct the rule"
        )
    return ModelCard(
        model_id=spec.model_id,
        name=spec.name,
        provider=spec.provider,
        tier=spec.tier,
        input_pico_usd=input_pico,
        output_pico_usd=_pico(price.output_usd),
        cache_read_pico_usd=_pico(price.cache_read_usd) if caches and price.cache_read_usd else input_pico,
        cache_write_pico_usd=_pico(price.cache_write_usd) if writes_cost and price.cache_write_usd else input_pico,
        context_window_tokens=spec.window_tokens,
        cache_rule=spec.cache_rule,
        vocabulary=spec.vocabulary,
        vocabulary_permille=spec.permille,
        reasoning_tokens={
            Effort.LOW: spec.reasoning.low,
            Effort.MEDIUM: spec.reasoning.medium,
            Effort.HIGH: spec.reasoning.high,
        },
        first_token_ms=spec.first_token_ms,
        output_tokens_per_s=spec.output_tokens_per_s,
        behaviour_note=spec.note,
    )


def _looked_up(row: PriceRow) -> Price:
    """The row's standard price at noon UTC of its day: outside every peak and discount window the package lists."""
    from genai_prices.data import providers

    models = [model for provider in providers if provider.id == row.provider_id for model in provider.models]
    found = next((model for model in models if model.id == row.row_id), None)
    if found is None:
        raise BadInput(f"no price row {row.source}; name another row in catalog/roster/")
    prices = found.get_prices(_noon(row.on))
    input_usd, output_usd = _base(prices.input_mtok), _base(prices.output_mtok)
    if input_usd is None or output_usd is None:
        raise BadInput(f"price row {row.source} has no token price; name another row in catalog/roster/")
    return Price(row.source, input_usd, output_usd, _base(prices.cache_read_mtok), _base(prices.cache_write_mtok))


def _noon(day: date) -> datetime:
    return datetime.combine(day, time(12), tzinfo=UTC)


def _base(price: Any) -> str | None:
    """Long-context tiers start at 200,000 tokens, more than one call can take here: the base price is the one paid."""
    if price is None:
        return None
    return str(getattr(price, "base", price))


def _pico(usd_per_million: str) -> int:
    pico = Decimal(usd_per_million) * _PICO_PER_TOKEN
    if pico != pico.to_integral_value():
        raise BadInput(f"{usd_per_million} usd per million tokens is finer than a pico-dollar per token")
    return int(pico)
