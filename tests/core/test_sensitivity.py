"""Sensitivity: one assumption moves at a time, and rankings are compared as Kendall would."""

from __future__ import annotations

import pytest

from tests import cases
from TokenOptEnv import scenario_store
from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.evaluation import sensitivity
from TokenOptEnv.evaluation.variations import DEFAULT, VARIATIONS, Variation
from TokenOptEnv.models import Effort
from TokenOptEnv.simulators.backend import RouteReply, RouteRequest
from TokenOptEnv.world import build_world

pytestmark = pytest.mark.usefixtures("store")


def replies(variation: Variation) -> list[RouteReply]:
    """What every model says to a question on no evidence at all, in two worlds."""
    scenario = scenario_store.load(cases.TOY)
    found = []
    for seed in range(2):
        backend = variation.world(scenario, seed).backend
        for model_id in cases.MENU:
            for subtask in scenario.public.subtasks:
                found.append(
                    backend.answer(
                        RouteRequest(subtask.subtask_id, subtask.question, "req-7f3a", model_id, Effort.MEDIUM, (), 10)
                    )
                )
    return found


def test_every_assumption_that_is_named_is_varied() -> None:
    assert {each.about for each in VARIATIONS} == {
        "default",
        "rho",
        "confidence",
        "controller price",
        "price table",
        "catalog",
    }
    assert len({(each.about, each.name) for each in VARIATIONS}) == len(VARIATIONS)


def test_the_default_is_the_world_that_is_played() -> None:
    scenario = scenario_store.load(cases.TOY)
    ours, shipped = DEFAULT.world(scenario, 1), build_world(scenario, 1, EpisodeConfig())
    assert ours.visible is shipped.visible and ours.backend is shipped.backend


def test_another_confidence_changes_what_is_stated_and_not_what_is_right() -> None:
    plain = replies(DEFAULT)
    for variation in VARIATIONS:
        if variation.about == "confidence":
            varied = replies(variation)
            assert [each.values for each in varied] == [each.values for each in plain]
            assert [each.confidence for each in varied] != [each.confidence for each in plain]


def test_a_dearer_controller_and_another_table_change_prices_alone() -> None:
    scenario = scenario_store.load(cases.TOY)
    plain = DEFAULT.world(scenario, 0).visible
    for variation in VARIATIONS:
        visible = variation.world(scenario, 0).visible
        if variation.about == "controller price":
            times = visible.controller.input_pico_usd / plain.controller.input_pico_usd
            assert times == pytest.approx(variation.controller_times, rel=0.01)
            assert visible.menu == plain.menu
        if variation.about == "price table":
            assert [card.model_id for card in visible.menu] == [card.model_id for card in plain.menu]
            assert visible.menu != plain.menu


def test_a_study_has_a_row_for_each_variation_and_the_default_agrees_with_itself() -> None:
    names = ["cheapest", "random", "strongest-only"]
    cells = list(sensitivity.study(names, [cases.TOY], [0, 1], workers=1))
    assert len(cells) == len(VARIATIONS) * len(names) * 2
    rows = sensitivity.rows(cells)
    assert [(row.about, row.variation) for row in rows] == [(each.about, each.name) for each in VARIATIONS]
    assert rows[0].tau == 1.0
    assert all(set(row.mean_sce) == set(names) for row in rows)
    assert all(row.tau is None or -1.0 <= row.tau <= 1.0 for row in rows)


def test_tau_counts_pairs() -> None:
    order = [(1.0,), (2.0,), (3.0,), (4.0,)]
    assert sensitivity.kendall_tau(order, order) == 1.0
    assert sensitivity.kendall_tau(order, order[::-1]) == -1.0
    assert sensitivity.kendall_tau(order, [(1.0,), (2.0,), (4.0,), (3.0,)]) == pytest.approx(4 / 6, abs=1e-4)
    assert sensitivity.kendall_tau(order, [(1.0,)] * 4) is None
    assert sensitivity.kendall_tau(order, [(1.0,), (1.0,), (2.0,), (3.0,)]) == pytest.approx(5 / 30**0.5, abs=1e-4)
