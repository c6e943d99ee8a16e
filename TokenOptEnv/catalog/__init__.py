"""The catalogs: dated snapshots of real models, their public cards apart from their private behaviour."""

from TokenOptEnv.catalog.behaviour import Behaviour, LengthCurve, SimulatorConstants
from TokenOptEnv.catalog.price_tables import (
    HELD_OUT_PRICE_TABLE,
    LIST_PRICES,
    PRICE_TABLES,
    TRAIN_PRICE_TABLES,
    priced,
)
from TokenOptEnv.catalog.snapshot import (
    CATALOGS,
    HELD_OUT_MODELS,
    Catalog,
    draw_menu,
    load_behaviours,
    load_catalog,
)

__all__ = [
    "CATALOGS",
    "HELD_OUT_MODELS",
    "HELD_OUT_PRICE_TABLE",
    "LIST_PRICES",
    "PRICE_TABLES",
    "TRAIN_PRICE_TABLES",
    "Behaviour",
    "Catalog",
    "LengthCurve",
    "SimulatorConstants",
    "draw_menu",
    "load_behaviours",
    "load_catalog",
    "priced",
]
