"""Menus and prices: for each catalog four to six models that it knows, and what is held out stays in test."""

from __future__ import annotations

from collections.abc import Iterator

from TokenOptEnv.catalog import CATALOGS, HELD_OUT_MODELS, HELD_OUT_PRICE_TABLE, load_catalog
from TokenOptEnv.evaluation.faults import Fault
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.scenario_store.splits import case_named
from TokenOptEnv.task_defs.generation import Split, split_of

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
    case = case_named(scenario.scenario_id)
    if case is not None:
        yield from _held_out(scenario, split_of(case.number))


def _held_out(scenario: Scenario, split: Split) -> Iterator[Fault]:
    for name, menu in scenario.public.menus.items():
        unseen = sorted(set(menu) & set(HELD_OUT_MODELS[name]))
        if bool(unseen) is not (split is Split.TEST):
            yield Fault(
                scenario_id=scenario.scenario_id,
                place=f"menu {name}",
                cause=f"offers {len(unseen)} held-out models in split {split.value!r}",
                remedy="draw it anew: test offers one at least, other splits none",
            )
    if scenario.public.price_table == HELD_OUT_PRICE_TABLE and split is not Split.TEST:
        yield Fault(
            scenario_id=scenario.scenario_id,
            place="price table",
            cause=f"is the held-out one in split {split.value!r}",
            remedy="draw another",
        )
