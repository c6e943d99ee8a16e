"""Menus: for each catalog four to six models that it knows."""

from __future__ import annotations

from collections.abc import Iterator

from TokenOptEnv.catalog import CATALOGS, load_catalog
from TokenOptEnv.evaluation.faults import Fault
from TokenOptEnv.scenario import Scenario

MENU_SIZES = range(4, 7)


def check(scenario: Scenario) -> Iterator[Fault]:
    for name in CATALOGS:
        menu = scenario.public.menus.get(name, ())
        if len(set(menu)) not in MENU_SIZES or len(set(menu)) != len(menu):
            yield Fault(
                scenario_id=scenario.scenario_id,
                place=f"menu {name}",
                cause=f"has {len(menu)} models, {len(set(menu))} of them different",
                remedy=f"offer {MENU_SIZES.start} to {MENU_SIZES.stop - 1} different ones",
            )
        for model_id in menu:
            if model_id not in load_catalog(name).cards:
                yield Fault(
                    scenario_id=scenario.scenario_id,
                    place=f"menu {name}",
                    cause=f"no model {model_id!r} in this catalog",
                    remedy="see: camre catalog show",
                )
