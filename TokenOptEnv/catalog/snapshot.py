"""Loads a catalog's snapshot and draws menus from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.resources import files

from TokenOptEnv.catalog.behaviour import Behaviour, SimulatorConstants
from TokenOptEnv.errors import UnknownName
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.models.card import CatalogStamp, ModelCard, Tier
from TokenOptEnv.streams import Stream

CATALOGS = ("measured", "current")
HELD_OUT_MODELS = {
    "measured": ("gemma-4-31b", "deepseek-v3.2", "gpt-5.2"),
    "current": ("qwen3.8-flash", "gemini-3.8-flash", "qwen3.8-max"),
}
"""By catalog: one of each tier, offered in the test split alone."""
_MENU_SIZES = (4, 5, 6)


class CardsFile(Frozen):
    """`data/{catalog}.json`."""

    stamp: CatalogStamp
    cards: tuple[ModelCard, ...]
    price_sources: dict[str, str]


class BehavioursFile(Frozen):
    """`data/{catalog}.behaviour.json`, written by `camre calibrate`."""

    fitted: str
    """The date of the figures they are fitted to."""
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


def load_cards(name: str) -> CardsFile:
    if name not in CATALOGS:
        raise UnknownName("catalog", name, CATALOGS, "camre catalog show")
    return CardsFile.model_validate_json(_read(f"{name}.json"))


def load_parameters(name: str) -> BehavioursFile:
    """Private, as `load_behaviours`."""
    if name not in CATALOGS:
        raise UnknownName("catalog", name, CATALOGS, "camre catalog show")
    return BehavioursFile.model_validate_json(_read(f"{name}.behaviour.json"))


@cache
def load_catalog(name: str) -> Catalog:
    parsed = load_cards(name)
    version = f"{parsed.stamp.version}-{digest(parsed, load_parameters(name))}"
    return Catalog(
        stamp=parsed.stamp.model_copy(update={"version": version}),
        cards={card.model_id: card for card in parsed.cards},
        price_sources=parsed.price_sources,
    )


@cache
def load_behaviours(name: str) -> tuple[SimulatorConstants, dict[str, Behaviour]]:
    """Private: for the simulator alone, never for anything that builds an observation."""
    parsed = load_parameters(name)
    return parsed.constants, {behaviour.model_id: behaviour for behaviour in parsed.behaviours}


def draw_menu(name: str, *key: str, held_out: bool = False) -> tuple[str, ...]:
    """Four to six models: one of each tier at least, the rest from anywhere, cheapest input first.

    Held-out models are on the menus that ask for them, one at least, and on no others.
    """
    kept = HELD_OUT_MODELS[name]
    cards = [card for card in load_catalog(name).cards.values() if held_out or card.model_id not in kept]
    stream = Stream("menu", name, *key)
    drawn = [stream.choice([card for card in cards if card.tier is tier]) for tier in Tier]
    if held_out and not any(card.model_id in kept for card in drawn):
        unseen = stream.choice([card for card in cards if card.model_id in kept])
        drawn = [unseen if card.tier is unseen.tier else card for card in drawn]
    rest = stream.shuffled([card for card in cards if card not in drawn])
    menu = drawn + rest[: stream.choice(_MENU_SIZES) - len(drawn)]
    return tuple(card.model_id for card in sorted(menu, key=lambda card: (card.input_pico_usd, card.model_id)))


def digest(cards: CardsFile, parameters: BehavioursFile) -> str:
    """Of what decides a score: after a new fit or a corrected price, the old version's plans and scores stay apart."""
    public = [card.model_dump_json(exclude={"behaviour_note"}) for card in cards.cards]
    private = parameters.model_dump_json(include={"constants", "behaviours"})
    return blake2b("\n".join([*public, private]).encode(), digest_size=3).hexdigest()


def _read(name: str) -> bytes:
    return (files("TokenOptEnv.catalog") / "data" / name).read_bytes()
