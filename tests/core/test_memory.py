"""Working memory: ordered, bounded to the token, and what every result in it may take."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.cases import WEAKEST, Play, ScriptedBackend, find_everything, segment_with, toy, world_of
from TokenOptEnv.config import (
    CACHE_MAX_HITS,
    FINDING_CAP_TOKENS,
    PREVIEW_CAP_TOKENS,
    SEARCH_HIT_CAP_TOKENS,
    SEARCH_MAX_TOP_K,
    YARDSTICK,
    Difficulty,
    Profile,
    limits,
)
from TokenOptEnv.models import ItemKind, RefusalReason
from TokenOptEnv.prompt import item_text
from TokenOptEnv.simulators import tokens

ORDERS = segment_with(toy(), "pool exhausted")


def used(play: Play) -> int:
    return play.observation.working_memory.token_budget_used


@pytest.mark.parametrize(
    ("difficulty", "memory", "steps"),
    [
        (Difficulty.EASY, 1_500, 12),
        (Difficulty.MEDIUM, 3_000, 16),
        (Difficulty.HARD, 5_000, 24),
        (Difficulty.MARATHON, 5_000, 40),
    ],
)
def test_each_difficulty_has_its_memory_and_steps(difficulty: Difficulty, memory: int, steps: int) -> None:
    bounds = limits(difficulty, 10_000, Profile.V2)
    assert (bounds.memory_tokens, bounds.steps) == (memory, steps)
    assert limits(difficulty, 10_000, Profile.V1).memory_tokens is None


def test_a_larger_memory_can_be_asked_for() -> None:
    play = Play(world_of(toy(), memory_tokens=9_000))
    assert play.observation.working_memory.token_budget == 9_000
    assert play.observation.stamp.memory_tokens == 9_000


def test_an_item_takes_its_text_and_the_line_over_it() -> None:
    play = Play(world_of(toy()))
    find_everything(play)
    play.query_cache("Why did a checkout request fail?")
    play.checkpoint("a note")
    play.restore("checkpoint-1")
    play.compress(play.item_ids[0], target_ratio=0.3)
    items = play.observation.working_memory.items
    assert len({item.kind for item in items}) >= 4
    for item in items:
        assert item.tokens == tokens.count(YARDSTICK, item_text(item)), item.item_id
    assert used(play) == sum(item.tokens for item in items)


def test_items_stand_in_the_order_they_came() -> None:
    play = Play(world_of(toy()))
    play.read("config-orders")
    play.search("pool exhausted", 1)
    play.hydrate(ORDERS)
    kinds = [item.kind for item in play.observation.working_memory.items]
    assert kinds == [ItemKind.SEGMENT, ItemKind.SEARCH, ItemKind.SEGMENT]


def test_a_number_is_never_given_twice() -> None:
    play = Play(world_of(toy()))
    seen: dict[int, str] = {}
    play.read("config-orders")
    play.search("pool", 3)
    play.purge(*play.item_ids)
    play.search("gateway request", 3)
    play.read("config-orders")
    for observation in play.observations:
        named = [(item.alias, item.item_id) for item in observation.working_memory.items]
        named += [(handle.alias, handle.segment_id) for handle in observation.surfaced]
        for alias, name in named:
            assert seen.setdefault(alias, name) == name
    assert sorted(seen) == list(range(1, len(seen) + 1))


def test_a_segment_keeps_its_number_when_it_is_loaded_dropped_and_loaded_again() -> None:
    play = Play(world_of(toy()))
    play.search("pool exhausted", 1)
    alias = play.observation.surfaced[0].alias
    for _ in range(2):
        play.hydrate(ORDERS)
        assert play.observation.working_memory.items[-1].alias == alias
        play.purge(ORDERS)


def test_what_needs_more_than_is_left_is_refused_before_anything_happens() -> None:
    play = Play(world_of(toy(), memory_tokens=500))
    play.read("ticket-checkout")
    left = 500 - used(play)
    play.read("code-pool")
    assert play.refusal is not None
    assert play.refusal.reason is RefusalReason.MEMORY_FULL
    assert play.refusal.left == left
    assert play.refusal.needed is not None and play.refusal.needed > left
    assert used(play) == 500 - left


def test_a_full_memory_can_still_be_purged_compressed_and_answered_from() -> None:
    whole = Play(world_of(toy()))
    whole.read("ticket-checkout")
    exact = used(whole)
    moves: list[Callable[[Play], object]] = [
        lambda play: play.purge("ticket-checkout-s1"),
        lambda play: play.compress("ticket-checkout-s1", target_ratio=0.3),
        lambda play: play.submit(answer={"cause": "deadlock"}),
    ]
    for move in moves:
        play = Play(world_of(toy(), memory_tokens=exact))
        play.read("ticket-checkout")
        assert used(play) == exact
        move(play)
        assert play.refusal is None


def test_a_fit_is_reckoned_with_the_numbers_that_the_items_will_get() -> None:
    """Items number 9 and 10: the second number is a token longer than the first."""

    def read_after_eight_names(memory_tokens: int) -> Play:
        play = Play(world_of(toy(), memory_tokens=memory_tokens))
        play.search("gateway request served from shard", 7)
        assert len(play.state.aliases) == 8
        play.purge(*play.item_ids)
        play.read("ticket-checkout")
        return play

    roomy = read_after_eight_names(2_000)
    assert [item.alias for item in roomy.observation.working_memory.items] == [9, 10]
    exact = used(roomy)
    fits = read_after_eight_names(exact)
    assert fits.refusal is None
    assert used(fits) == exact
    tight = read_after_eight_names(exact - 1)
    assert used(tight) <= exact - 1
    assert tight.refusal is not None
    assert tight.refusal.needed == exact


def test_every_result_keeps_to_its_cap() -> None:
    long_words = " ".join(["antidisestablishmentarianism"] * 200)
    backend = ScriptedBackend({"q-setting": {"setting": long_words}})
    play = Play(world_of(toy(), memory_tokens=100_000, backend=backend))
    for artifact in ("log-gateway", "log-orders", "log-archive"):
        play.read(artifact)
    for top_k in range(1, SEARCH_MAX_TOP_K + 1):
        play.search("request served from shard pool", top_k)
    play.route("q-setting", WEAKEST, ORDERS)
    caps = {
        ItemKind.PREVIEW: PREVIEW_CAP_TOKENS,
        ItemKind.FINDING: FINDING_CAP_TOKENS,
        ItemKind.SEARCH: SEARCH_HIT_CAP_TOKENS * SEARCH_MAX_TOP_K,
    }
    items = play.observation.working_memory.items
    assert {item.kind for item in items} == set(caps)
    for item in items:
        assert item.tokens <= caps[item.kind]
    searches = [item.tokens for item in items if item.kind is ItemKind.SEARCH]
    assert all(size <= SEARCH_HIT_CAP_TOKENS * top_k for top_k, size in enumerate(searches, start=1))


def test_a_value_too_long_for_the_cap_is_still_whole_in_its_finding() -> None:
    value = " ".join(["word"] * 300)
    play = Play(world_of(toy(), backend=ScriptedBackend({"q-setting": {"setting": value}})))
    play.read("config-orders")
    play.route("q-setting", WEAKEST, "config-orders-s1")
    assert play.observation.findings[-1].values["setting"] == value


def test_earlier_results_together_keep_to_their_cap() -> None:
    play = Play(world_of(toy()))
    play.query_cache("Why did a checkout request fail, and which setting bounds the pool?")
    items = play.observation.working_memory.items
    assert 1 <= len(items) <= CACHE_MAX_HITS
    assert used(play) <= CACHE_MAX_HITS * FINDING_CAP_TOKENS


def test_the_last_result_says_how_memory_changed() -> None:
    play = Play(world_of(toy()))
    play.read("ticket-checkout")
    play.search("pool", 2)
    play.compress("ticket-checkout-s1", target_ratio=0.3)
    play.purge("ticket-checkout-s2")
    play.read("nowhere")
    sizes = [observation.working_memory.token_budget_used for observation in play.observations]
    told = [seen.last_tool_result.tokens for seen in play.observations if seen.last_tool_result is not None]
    assert told == [after - before for before, after in pairwise(sizes)]


def test_a_segment_read_whole_was_read_even_after_it_is_dropped() -> None:
    play = Play(world_of(toy()))
    play.search("pool exhausted", 1)
    assert play.state.read_ids == frozenset()
    play.hydrate(ORDERS)
    play.purge(ORDERS)
    assert play.state.read_ids == {ORDERS}
