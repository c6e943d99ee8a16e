"""Loads a catalog's snapshot and draws menus from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from TokenOptEnv.catalog.behaviour import Behaviour, SimulatorConstants
from TokenOptEnv.errors import UnknownName
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.models.card import CatalogStamp, ModelCard, Tier
from TokenOptEnv.streams import Stream

CATALOGS = ("measured", "current")
_MENU_SIZES = (4, 5, 6)


class CardsFile(Frozen):
    """`data/{catalog}.json`."""

    stamp: CatalogStamp
    cards: tuple[ModelCard, ...]
    price_sources: dict[str, str]


class BehavioursFile(Frozen):
    """`data/{catalog}.behaviour.json`."""

    constants: SimulatorConstants
    behaviours: tuple[Behaviour, ...]


@dataclass(frozen=True)
class Catalog:
    stamp: CatalogStamp
    cards: dict[str, ModelCard]
    price_sources: dict[str, str]
    """By model id. Kept off the card: a source names the model even where the card is shown without its name."""

    def card(self, model_id: str) -> ModelCard:
        if model_id not in self.cards:
            raise UnknownName("model", model_id, self.cards, "camre catalog show")
        return self.cards[model_id]


@cache
def load_catalog(name: str) -> Catalog:
    if name not in CATALOGS:
        raise UnknownName("catalog", name, CATALOGS, "camre catalog show")
    parsed = CardsFile.model_validate_json(_read(f"{name}.json"))
    return Catalog(
        stamp=parsed.stamp,
        cards={card.model_id: card for card in parsed.cards},
        price_sources=parsed.price_sources,
    )


@cache
def load_behaviours(name: str) -> tuple[SimulatorConstants, dict[str, Behaviour]]:
    """Private: for the simulator alone, never for anything that builds an observation."""
    if name not in CATALOGS:
        raise UnknownName("catalog", name, CATALOGS, "camre catalog show")
    parsed = BehavioursFile.model_validate_json(_read(f"{name}.behaviour.json"))
    return parsed.constants, {behaviour.model_id: behaviour for behaviour in parsed.behaviours}


def draw_menu(name: str, *key: str) -> tuple[str, ...]:
    """Four to six models: one of each tier at least, the rest from anywhere, cheapest input first."""
    cards = load_catalog(name).cards
    stream = Stream("menu", name, *key)
    drawn = [stream.choice([card for card in cards.values() if card.tier is tier]) for tier in Tier]
    rest = stream.shuffled([card for card in cards.values() if card not in drawn])
    menu = drawn + rest[: stream.choice(_MENU_SIZES) - len(drawn)]
    return tuple(card.model_id for card in sorted(menu, key=lambda card: (card.input_pico_usd, card.model_id)))


def _read(name: str) -> bytes:
    return (files("TokenOptEnv.catalog") / "data" / name).read_bytes()
