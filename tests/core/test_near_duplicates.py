"""What test shows was not nearly shown in train; and the search that says so finds what is there."""

from __future__ import annotations

from functools import cache

import pytest

from TokenOptEnv.config import Difficulty
from TokenOptEnv.evaluation.audit import MOST_NEAR, audit
from TokenOptEnv.evaluation.held_out import EVERY_FAMILY, stocks
from TokenOptEnv.evaluation.near_duplicates import (
    ALIKE,
    Telling,
    likeness,
    near_duplicates,
    shingles,
    telling_segments,
)
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.scenario_store.splits import GENERATED_FAMILIES, Case, generate
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.generation import TEST_NUMBERS, TRAIN_NUMBERS

EACH = {"incident": 8, "bugfix": 6, "ci": 3}
FROM = 300
WORDS = ("pool", "queue", "cache", "broker", "ledger", "invoice", "token", "shard", "replica", "gateway", "cursor")


@cache
def cases(family: str, first: int) -> list[tuple[Case, Scenario]]:
    numbers = range(first + FROM, first + FROM + EACH[family])
    return [(case, generate(case)) for case in (Case(family, Difficulty.EASY, number) for number in numbers)]


def text(name: str, words: int = 90) -> str:
    draw = Stream("near duplicates", name)
    return " ".join(f"{draw.choice(WORDS)} {draw.choice(WORDS)} {draw.integer(1, 99)}" for _ in range(words // 3))


def telling(name: str, said: str) -> Telling:
    return Telling("case", name, shingles(said))


def test_numbers_and_ids_do_not_tell_two_texts_apart() -> None:
    one = "09:14:02.117 ERROR orders req-7f3a waited 30000 ms for shard 5\n"
    other = "23:01:59.004 ERROR orders req-a92c waited 12 ms for shard 11\n"
    assert shingles(one) == shingles(other)
    assert likeness(shingles(one), shingles(one.replace("waited", "slept"))) < 1.0


def test_a_text_of_one_word_is_compared_too() -> None:
    assert likeness(shingles("timeout"), shingles("timeout")) == 1.0
    assert likeness(shingles("timeout"), shingles("")) == 0.0


def test_what_is_nearly_the_same_is_found_among_many_and_nothing_else_is() -> None:
    seen = [telling(str(number), text(f"seen {number}")) for number in range(150)]
    changed = text("seen 70").replace("pool", "depot", 2)
    new = [telling("copy", text("seen 31")), telling("near", changed), telling("other", text("new"))]
    found = near_duplicates(new, seen)
    assert [(pair.new.segment_id, pair.seen.segment_id) for pair in found] == [("copy", "31"), ("near", "70")]
    assert found[0].alike == 1.0
    assert ALIKE <= found[1].alike < 1.0


def test_the_search_by_bands_finds_what_comparing_everything_finds() -> None:
    seen = [telling(str(number), text(f"seen {number}")) for number in range(60)]
    new = []
    for number in range(60):
        words, draw = text(f"seen {number}").split(), Stream("changed", number)
        for place in range(0, len(words), 13 + number % 15):
            words[place] = draw.choice(("granite", "marble"))
        new.append(telling(str(number), " ".join(words)))
    by_all = {one.segment_id for one in new if any(likeness(one.shingles, two.shingles) >= ALIKE for two in seen)}
    assert len(new) > len(by_all) > 10
    assert {pair.new.segment_id for pair in near_duplicates(new, seen)} == by_all


def test_a_segment_counts_once_however_many_facts_it_shows() -> None:
    (_, scenario), *_ = cases("incident", TRAIN_NUMBERS.start)
    found = [each.segment_id for each in telling_segments(scenario)]
    places = [place for fact in scenario.hidden.facts for place in fact.places]
    assert len(found) == len(set(found))
    assert {place.segment_id for place in places} <= set(found)


@pytest.mark.parametrize("family", GENERATED_FAMILIES)
def test_hardly_a_telling_segment_of_test_is_nearly_one_of_train(family: str) -> None:
    (found,) = audit(cases(family, TEST_NUMBERS.start), cases(family, TRAIN_NUMBERS.start))
    assert found.telling_segments >= 5 * EACH[family]
    assert found.near_share < MOST_NEAR, found.examples


def test_the_same_cases_are_all_nearly_seen() -> None:
    same = cases("incident", TRAIN_NUMBERS.start)
    (found,) = audit(same, same)
    assert found.near_share == 1.0
    assert any("nearly seen in train" in line for line in found.faults)


def test_train_and_test_share_no_class_package_format_model_or_price_table() -> None:
    found = stocks()
    assert set(found) == {EVERY_FAMILY, *GENERATED_FAMILIES}
    for stock in (each for of_family in found.values() for each in of_family):
        assert stock.seen and stock.held_out, stock.kind
        assert not stock.seen & stock.held_out, stock.kind


@pytest.mark.parametrize("family", GENERATED_FAMILIES)
def test_a_train_case_names_no_package_library_or_business_of_test(family: str) -> None:
    """Names that stand in the texts themselves; formats and layouts have no name to look for."""
    named = {"source package", "pinned library", "unsteady test"}
    held_out = {name for stock in stocks()[family] if stock.kind in named for name in stock.held_out}
    for _, scenario in cases(family, TRAIN_NUMBERS.start):
        words = {
            word
            for artifact in scenario.public.artifacts
            for segment in artifact.segments
            for word in segment.text.replace("/", " ").replace(".", " ").replace("-", " ").split()
        }
        assert not words & held_out
