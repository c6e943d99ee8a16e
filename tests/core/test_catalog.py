"""The catalogs: real models, dated prices, and behaviour kept apart from the card."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from statistics import median

import pytest

from TokenOptEnv.catalog import CATALOGS, Behaviour, draw_menu, load_behaviours, load_catalog
from TokenOptEnv.catalog.table import behaviour_table, price_table
from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.errors import UnknownName
from TokenOptEnv.models import Effort, ModelCard, Tier
from TokenOptEnv.scenario import QuestionKind
from TokenOptEnv.simulators.tokens import VOCABULARIES

catalogs = pytest.mark.parametrize("name", CATALOGS)


def _cards(name: str) -> list[ModelCard]:
    return list(load_catalog(name).cards.values())


@catalogs
def test_a_catalog_has_at_least_three_models_in_each_tier(name: str) -> None:
    tiers = Counter(card.tier for card in _cards(name))
    assert all(tiers[tier] >= 3 for tier in Tier)


def test_the_catalogs_hold_many_models_of_many_makers() -> None:
    cards = [card for name in CATALOGS for card in _cards(name)]
    assert len({card.model_id for card in cards}) >= 14
    assert len({card.provider for card in cards}) >= 6


def test_the_controllers_are_mid_tier_models_of_their_catalogs() -> None:
    assert load_catalog(EpisodeConfig().catalog).card(EpisodeConfig().controller_model).tier is Tier.MID
    assert load_catalog("current").card("gpt-5.6-luna").tier is Tier.MID


@catalogs
def test_each_tier_costs_a_multiple_of_the_one_below(name: str) -> None:
    def price(tier: Tier) -> float:
        return median(10 * card.input_pico_usd + card.output_pico_usd for card in _cards(name) if card.tier is tier)

    assert price(Tier.MID) >= 3 * price(Tier.SMALL)
    assert price(Tier.FRONTIER) >= 3 * price(Tier.MID)


@catalogs
def test_a_cache_read_is_cheaper_and_a_paid_write_dearer_than_fresh_input(name: str) -> None:
    for card in _cards(name):
        if card.cache_rule is None:
            assert card.cache_read_pico_usd == card.cache_write_pico_usd == card.input_pico_usd
            continue
        assert 0 < card.cache_read_pico_usd <= card.input_pico_usd // 2
        if card.cache_rule.writes_cost:
            assert card.cache_write_pico_usd * 4 == card.input_pico_usd * 5
        else:
            assert card.cache_write_pico_usd == card.input_pico_usd


@catalogs
def test_every_card_can_be_counted_billed_and_timed(name: str) -> None:
    for card in _cards(name):
        assert card.vocabulary in VOCABULARIES
        assert 1_000 <= card.vocabulary_permille <= 1_400
        assert 0 < card.input_pico_usd <= card.output_pico_usd
        assert card.context_window_tokens >= 128_000
        assert card.first_token_ms > 0
        assert card.output_tokens_per_s > 0
        low, medium, high = (card.reasoning_tokens[effort] for effort in Effort)
        assert 0 <= low <= 100 <= medium <= 400 <= high <= 1_500


@catalogs
def test_every_card_says_whether_its_behaviour_is_measured_or_borrowed(name: str) -> None:
    expected = "measured: " if name == "measured" else "borrowed: "
    assert all(card.behaviour_note.startswith(expected) for card in _cards(name))


@catalogs
def test_every_model_has_a_price_source_and_a_behaviour_and_nothing_else_has(name: str) -> None:
    catalog = load_catalog(name)
    assert list(catalog.cards) == list(catalog.price_sources) == list(load_behaviours(name)[1])


@catalogs
def test_behaviours_are_shares_and_more_effort_never_hurts(name: str) -> None:
    constants, behaviours = load_behaviours(name)
    assert 0.0 < constants.rho < 1.0
    for behaviour in behaviours.values():
        assert all(constants.guess < behaviour.ceiling[kind] < 1.0 for kind in QuestionKind)
        assert behaviour.effort_gain[Effort.LOW] <= behaviour.effort_gain[Effort.MEDIUM] == 0.0
        assert behaviour.effort_gain[Effort.HIGH] >= 0.0
        assert 0.0 < behaviour.decoy_factor <= 1.0
        assert behaviour.confidence_signal > 0.0


def test_a_card_shows_nothing_of_the_private_behaviour() -> None:
    assert set(ModelCard.model_fields) & set(Behaviour.model_fields) == {"model_id"}


@catalogs
def test_the_snapshot_is_what_the_builder_makes_of_its_price_package(name: str) -> None:
    pytest.importorskip("genai_prices")
    from TokenOptEnv.catalog.build import build_cards

    stamp, cards = build_cards(name)
    frozen = load_catalog(name)
    if stamp.package_version != frozen.stamp.package_version:
        pytest.skip(f"the snapshot is of {frozen.stamp.package_version}, installed is {stamp.package_version}")
    assert stamp == frozen.stamp
    assert cards == tuple(frozen.cards.values())


def test_borrowed_behaviour_is_what_the_measured_tier_lends() -> None:
    from TokenOptEnv.catalog.borrow import borrow_all

    lent = borrow_all(load_catalog("current"), load_catalog("measured"), load_behaviours("measured")[1])
    assert lent == tuple(load_behaviours("current")[1].values())
    assert load_behaviours("current")[0] == load_behaviours("measured")[0]


def test_borrowed_behaviour_stays_within_the_spread_of_its_tier() -> None:
    measured, cards = load_behaviours("measured")[1], load_catalog("measured").cards
    for model_id, behaviour in load_behaviours("current")[1].items():
        tier = load_catalog("current").card(model_id).tier
        peers = [measured[peer] for peer, card in cards.items() if card.tier is tier]
        for kind in QuestionKind:
            known = [peer.ceiling[kind] for peer in peers]
            assert min(known) <= behaviour.ceiling[kind] <= max(known)


@catalogs
def test_a_menu_has_four_to_six_models_every_tier_and_the_cheapest_first(name: str) -> None:
    cards = load_catalog(name).cards
    menus = [draw_menu(name, f"case-{number}") for number in range(120)]
    for menu in menus:
        assert len(menu) == len(set(menu))
        assert {cards[model_id].tier for model_id in menu} == set(Tier)
        prices = [cards[model_id].input_pico_usd for model_id in menu]
        assert prices == sorted(prices)
    assert {len(menu) for menu in menus} == {4, 5, 6}
    assert {model_id for menu in menus for model_id in menu} == set(cards)


@catalogs
def test_no_model_is_on_most_menus(name: str) -> None:
    menus = [draw_menu(name, f"case-{number}") for number in range(200)]
    offered = Counter(model_id for menu in menus for model_id in menu)
    assert max(offered.values()) <= 100


def test_a_menu_is_the_same_in_every_process() -> None:
    code = "from TokenOptEnv.catalog import draw_menu; print(draw_menu('measured', 'case-1'))"
    for hash_seed in ("0", "77"):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": hash_seed}
        )
        assert done.stdout.strip() == str(draw_menu("measured", "case-1"))


def test_loading_a_catalog_does_not_load_the_price_package() -> None:
    code = "import sys, TokenOptEnv.catalog as c; c.load_catalog('measured'); print('genai_prices' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_an_unknown_catalog_or_model_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="did you mean 'measured'"):
        load_catalog("mesured")
    with pytest.raises(UnknownName, match="did you mean 'gpt-5-mini'"):
        load_catalog("measured").card("gpt5-mini")


@catalogs
def test_the_page_on_models_shows_the_catalogs_as_they_are(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "models.md").read_text()
    stamp = load_catalog(name).stamp
    assert f"a frozen snapshot of {stamp.date} made with {stamp.package} {stamp.package_version}" in page
    assert price_table(name) in page
    assert behaviour_table(name) in page
