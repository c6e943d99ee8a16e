"""The catalogs: dated snapshots of real models, their public cards apart from their private behaviour."""

from TokenOptEnv.catalog.behaviour import Behaviour, LengthCurve, SimulatorConstants
from TokenOptEnv.catalog.snapshot import CATALOGS, Catalog, draw_menu, load_behaviours, load_catalog

__all__ = [
    "CATALOGS",
    "Behaviour",
    "Catalog",
    "LengthCurve",
    "SimulatorConstants",
    "draw_menu",
    "load_behaviours",
    "load_catalog",
]
