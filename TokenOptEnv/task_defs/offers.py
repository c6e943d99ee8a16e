"""Which models a generated case offers, and at whose prices: drawn apart from its story, so neither tells the other."""

from __future__ import annotations

from dataclasses import replace

from TokenOptEnv import catalog
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.task_defs.generation import Outline, Split

_HELD_OUT_TABLE_SHARE = 0.5


def offer(scenario: Scenario, outline: Outline) -> Scenario:
    """The same scenario with the menus and the price table of its split."""
    is_test = outline.split is Split.TEST
    draw = outline.stream("prices")
    table = draw.choice(catalog.TRAIN_PRICE_TABLES)
    if is_test and draw.chance(_HELD_OUT_TABLE_SHARE):
        table = catalog.HELD_OUT_PRICE_TABLE
    menus = {name: catalog.draw_menu(name, scenario.scenario_id, held_out=is_test) for name in catalog.CATALOGS}
    return replace(scenario, public=scenario.public.model_copy(update={"menus": menus, "price_table": table}))
