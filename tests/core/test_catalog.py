"""The catalogs: real models, dated prices, and behaviour kept apart from the card."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from datetime import date
from pathlib import Path
from statistics import median

import pytest

from tests.cases import Play, toy, world_of
from TokenOptEnv.catalog import CATALOGS, HELD_OUT_MODELS, Behaviour, draw_menu, load_behaviours, load_catalog
from TokenOptEnv.catalog.changes import Change, changes
from TokenOptEnv.catalog.lineage import LINEAGES
from TokenOptEnv.catalog.snapshot import CardsFile, digest, load_cards, load_parameters
from TokenOptEnv.catalog.table import fill_page
from TokenOptEnv.cli import main as cli
from TokenOptEnv.config import DEFAULT_CONTROLLERS
from TokenOptEnv.errors import BadInput, UnknownName
from TokenOptEnv.evaluation.episodes import EpisodeResult
from TokenOptEnv.models import Effort, EpisodeStamp, ModelCard, Tier
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


@catalogs
def test_the_controllers_are_mid_tier_models_of_their_catalogs(name: str) -> None:
    assert load_catalog(name).card(DEFAULT_CONTROLLERS[name]).tier is Tier.MID


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
    from TokenOptEnv.catalog.build import build_snapshot

    frozen = load_cards(name)
    made = build_snapshot(name, date.fromisoformat(frozen.stamp.date))
    if made.stamp.package_version != frozen.stamp.package_version:
        pytest.skip(f"the snapshot is of {frozen.stamp.package_version}, installed is {made.stamp.package_version}")
    assert made == frozen


def test_a_refresh_shows_each_changed_field_of_each_model() -> None:
    frozen = load_cards("measured")
    first, second, *rest = frozen.cards
    dearer = first.model_copy(update={"input_pico_usd": first.input_pico_usd * 2})
    newcomer = second.model_copy(update={"model_id": "newcomer"})
    sources = {**frozen.price_sources, "newcomer": "a list"}
    found = changes(frozen, frozen.model_copy(update={"cards": (dearer, newcomer, *rest), "price_sources": sources}))
    assert found[0] == Change(
        model_id=first.model_id,
        field="input_pico_usd",
        before=str(first.input_pico_usd),
        after=str(first.input_pico_usd * 2),
    )
    assert {change.model_id for change in found[1:]} == {"newcomer", second.model_id}
    assert all(change.before == "-" for change in found if change.model_id == "newcomer")
    assert all(change.after == "-" for change in found if change.model_id == second.model_id)


def test_a_snapshot_that_did_not_change_shows_nothing() -> None:
    assert changes(load_cards("current"), load_cards("current")) == ()


def test_the_refresh_command_shows_the_difference_and_a_dry_run_writes_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("genai_prices")
    before = {name: load_cards(name) for name in CATALOGS}
    assert cli.run(["catalog", "refresh", "--dry-run", "--on", "2026-06-01", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["catalog"] for each in found] == list(CATALOGS)
    assert all("2026-06-01" in each["after"] for each in found)
    assert any(change["model_id"] == "mistral-large-4" for change in found[1]["changes"])
    assert {name: load_cards(name) for name in CATALOGS} == before


@pytest.mark.parametrize("argument", ["2026-13-01", "yesterday"])
def test_a_day_that_does_not_exist_is_refused_in_one_line(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["catalog", "refresh", "--on", argument]) == 1
    assert capsys.readouterr().err == f"camre: no such day {argument!r}; write it as YYYY-MM-DD\n"


@catalogs
def test_a_version_names_the_catalog_and_its_month(name: str) -> None:
    stamp = load_catalog(name).stamp
    month = re.escape(stamp.date[:7].replace("-", "."))
    assert re.fullmatch(rf"{name}-{month}-[0-9a-f]{{6}}", stamp.version)


@catalogs
def test_observations_traces_and_results_are_stamped_with_the_version(name: str) -> None:
    play = Play(world_of(toy(), catalog=name, controller_model=DEFAULT_CONTROLLERS[name]))
    version = load_catalog(name).stamp.version
    assert play.observation.stamp.catalog_version == version
    assert f'"catalog_version":"{version}"' in play.trace.to_jsonl().splitlines()[0]
    assert EpisodeResult.model_fields["stamp"].annotation is EpisodeStamp


@catalogs
def test_another_price_or_another_fit_is_another_version_and_another_note_is_not(name: str) -> None:
    cards, parameters = load_cards(name), load_parameters(name)
    first, *rest = cards.cards
    own = digest(cards, parameters)
    assert load_catalog(name).stamp.version.endswith(own)

    def with_first(**update: object) -> CardsFile:
        return cards.model_copy(update={"cards": (first.model_copy(update=update), *rest)})

    refitted = parameters.constants.model_copy(update={"rho": 0.5})
    assert digest(with_first(output_pico_usd=first.output_pico_usd + 1), parameters) != own
    assert digest(cards, parameters.model_copy(update={"constants": refitted})) != own
    assert digest(with_first(behaviour_note="measured: elsewhere"), parameters) == own


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
    assert {model_id for menu in menus for model_id in menu} == set(cards) - set(HELD_OUT_MODELS[name])


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


def test_the_page_on_models_shows_the_catalogs_as_they_are() -> None:
    page = (Path(__file__).parents[2] / "docs" / "models.md").read_text()
    assert fill_page(page) == page


def test_a_page_without_a_place_for_a_table_is_refused() -> None:
    with pytest.raises(BadInput, match="no place <!-- stamps -->"):
        fill_page("# Models")


def test_every_measured_model_says_what_is_its_own_and_what_it_borrows() -> None:
    assert list(LINEAGES) == list(load_catalog("measured").cards)
    for model_id, lineage in LINEAGES.items():
        note = load_catalog("measured").card(model_id).behaviour_note
        assert note == lineage.note
        assert all(what in note for what in lineage.borrowed)
    assert LINEAGES["llama-3.1-8b"].note == "measured: NoLiMa, RULER; borrowed: causal, code"
    assert str(LINEAGES["llama-3.1-8b"].causal) == "gpt-oss-120b, 3 tiers down"
    assert str(LINEAGES["glm-4.5"].lookup) == "Llama-3.3-70B and Claude-3.5-Sonnet"


@catalogs
def test_what_a_menu_holds_out_is_on_it_only_when_asked_for(name: str) -> None:
    kept = set(HELD_OUT_MODELS[name])
    assert all(not kept & set(draw_menu(name, f"case-{number}")) for number in range(60))
    assert all(kept & set(draw_menu(name, f"case-{number}", held_out=True)) for number in range(60))
