"""What the market charges in a case: list prices, or one of a few tables that shift them by tier.

A policy that learned the price list by heart has learned nothing about reading one. So generated cases vary the
table, and the test split has one of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from TokenOptEnv.errors import UnknownName
from TokenOptEnv.models.card import ModelCard, Tier

_PERMILLE: Final = 1_000


@dataclass(frozen=True, slots=True)
class PriceTable:
    name: str
    input_permille: dict[Tier, int]
    """Of the list price; cached tokens shift with the input."""
    output_permille: dict[Tier, int]


def _table(name: str, input_permille: tuple[int, int, int], output_permille: tuple[int, int, int]) -> PriceTable:
    """In the order of tiers: small, mid, frontier."""
    return PriceTable(name, dict(zip(Tier, input_permille, strict=True)), dict(zip(Tier, output_permille, strict=True)))


LIST_PRICES: Final = "list"
_TABLES: Final = {
    table.name: table
    for table in (
        _table(LIST_PRICES, (1_000, 1_000, 1_000), (1_000, 1_000, 1_000)),
        _table("frontier-sale", (1_000, 1_000, 600), (1_000, 1_000, 600)),
        _table("small-rise", (1_800, 1_000, 1_000), (1_800, 1_000, 1_000)),
        _table("dear-middle", (1_000, 1_500, 900), (1_000, 1_500, 900)),
        _table("dear-output", (800, 800, 800), (1_300, 1_300, 1_300)),
        _table("dear-input", (1_600, 1_400, 1_250), (850, 850, 800)),
    )
}
PRICE_TABLES: Final = tuple(_TABLES)
TRAIN_PRICE_TABLES: Final = PRICE_TABLES[:-1]
HELD_OUT_PRICE_TABLE: Final = PRICE_TABLES[-1]
"""In the test split alone."""


def priced(card: ModelCard, table_name: str) -> ModelCard:
    """The card as this table has it."""
    if table_name == LIST_PRICES:
        return card
    if table_name not in _TABLES:
        raise UnknownName("price table", table_name, _TABLES, "camre catalog show")
    table = _TABLES[table_name]
    input_permille, output_permille = table.input_permille[card.tier], table.output_permille[card.tier]
    return card.model_copy(
        update={
            "input_pico_usd": card.input_pico_usd * input_permille // _PERMILLE,
            "cache_read_pico_usd": card.cache_read_pico_usd * input_permille // _PERMILLE,
            "cache_write_pico_usd": card.cache_write_pico_usd * input_permille // _PERMILLE,
            "output_pico_usd": card.output_pico_usd * output_permille // _PERMILLE,
        }
    )
