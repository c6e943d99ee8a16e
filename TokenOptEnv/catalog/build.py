"""Makes a catalog's snapshot from the installed price package. For the refresh command; never imported by the core.

A snapshot is frozen on purpose: a run must cost the same next year, whatever the package says then.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from TokenOptEnv.catalog.lineage import LINEAGES
from TokenOptEnv.catalog.roster import ROSTERS
from TokenOptEnv.catalog.snapshot import CardsFile
from TokenOptEnv.catalog.spec import PRICE_PACKAGE, ModelSpec, Price, PriceRow
from TokenOptEnv.errors import BadInput, UnknownName
from TokenOptEnv.models.card import CatalogStamp, Effort, ModelCard

_PICO_PER_TOKEN = Decimal(1_000_000)
"""Pico-dollars per token in one dollar per million tokens."""


def build_snapshot(catalog_name: str, on: date) -> CardsFile:
    """The catalog at the prices of that day."""
    if catalog_name not in ROSTERS:
        raise UnknownName("catalog", catalog_name, ROSTERS, "camre catalog show")
    roster = ROSTERS[catalog_name]
    return CardsFile(
        stamp=CatalogStamp(
            catalog=catalog_name,
            version=f"{catalog_name}-{on:%Y.%m}",
            date=on.isoformat(),
            package=PRICE_PACKAGE,
            package_version=_package_version(),
        ),
        cards=tuple(_card(spec, _price(spec, on), _note(catalog_name, spec)) for spec in roster),
        price_sources={spec.model_id: spec.price.source for spec in roster},
    )


def _package_version() -> str:
    try:
        return version(PRICE_PACKAGE)
    except PackageNotFoundError:
        raise BadInput(f"the price package {PRICE_PACKAGE} is not installed; install the extra 'dev'") from None


def _price(spec: ModelSpec, on: date) -> Price:
    return spec.price if isinstance(spec.price, Price) else _looked_up(spec.price, on)


def _note(catalog_name: str, spec: ModelSpec) -> str:
    if catalog_name == "measured":
        return LINEAGES[spec.model_id].note
    return f"borrowed: the {spec.tier.value} tier of the measured catalog, with a fixed offset from its spread"


def _card(spec: ModelSpec, price: Price, note: str) -> ModelCard:
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
        behaviour_note=note,
    )


def _looked_up(row: PriceRow, on: date) -> Price:
    """The row's standard price at noon UTC of the day: outside every peak and discount window the package lists."""
    from genai_prices.data import providers

    models = [model for provider in providers if provider.id == row.provider_id for model in provider.models]
    found = next((model for model in models if model.id == row.row_id), None)
    if found is None:
        raise BadInput(f"no price row {row.source}; name another row in catalog/roster/")
    prices = found.get_prices(_noon(on))
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
