"""What agents make up is not kept: the caches hold what a case says, and no agent can fill the memory with them."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from functools import _lru_cache_wrapper
from random import Random

import pytest

from tests.hard import fuzz_engine
from tests.server.live import KAFKA
from TokenOptEnv import ActionType, LocalEnv, TokenOptEnvAction, scenario_store
from TokenOptEnv.simulators import semantic_cache, terms, tokens

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_OPTIONS = 12
EASY = next(name for name in scenario_store.ids("core") if "-easy-" in name)


def _word(draw: Random) -> str:
    return "".join(draw.choices(_LETTERS, k=1_900))


def _camel(draw: Random) -> str:
    return "".join(draw.choices(_LETTERS + _LETTERS.upper(), k=1_900))


def _kept_bytes(times: int, use: Callable[[int], None]) -> float:
    """What each of so many uses leaves behind, once everything is warm."""
    for number in range(5):
        use(-1 - number)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(times):
            use(number)
        gc.collect()
        return (tracemalloc.get_traced_memory()[0] - before) / times
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (ActionType.QUERY_CACHE, _word),
        (ActionType.SEARCH_ARTIFACTS, _word),
        (ActionType.SEARCH_ARTIFACTS, _camel),
    ],
)
def test_a_made_up_word_is_not_kept_at_many_times_its_size(kind: ActionType, word: Callable[[Random], str]) -> None:
    draw, env = Random(1), LocalEnv()

    def ask(number: int) -> None:
        env.reset(scenario_id=KAFKA)
        env.step(TokenOptEnvAction(action_type=kind, query=word(draw)))

    assert _kept_bytes(15, ask) < 20_000


def test_a_long_action_is_not_kept_by_who_counts_it() -> None:
    draw, env = Random(2), LocalEnv()
    tokens.count.cache_clear()

    def say(number: int) -> None:
        env.reset(scenario_id=KAFKA)
        raw = "🤖".join(_word(draw) for _ in range(30))
        env.step(TokenOptEnvAction(action_type=ActionType.MALFORMED, raw_text=raw))

    assert _kept_bytes(10, say) < 8_000
    assert tokens.count.cache_info().currsize > 0, "what is short is kept"


def test_another_option_costs_no_other_index() -> None:
    env = LocalEnv()

    def begin(number: int) -> None:
        env.reset(scenario_id=KAFKA, memory_tokens=1_000 + number)
        env.step(TokenOptEnvAction(action_type=ActionType.SEARCH_ARTIFACTS, query="timeout"))

    assert _kept_bytes(_OPTIONS, begin) < 250_000


@pytest.mark.parametrize("word", ["a", "OrderPool.acquire_timeout_ms", "x" * 120, "y" * 121, "aB" * 900])
def test_what_is_not_kept_is_split_and_weighed_alike(word: str) -> None:
    assert terms.split(word) == terms._made_split(word)
    for term in terms.split(word):
        assert semantic_cache._features(term) == semantic_cache._made_features(term)


def test_an_attack_leaves_nothing_behind_but_what_bounded_caches_hold() -> None:
    attack = fuzz_engine.Attack(7, (EASY,))
    attack.run(400)
    _forget()
    tracemalloc.start()
    try:
        attack.run(800)
        unbounded = _unbounded()
        _forget()
        once = tracemalloc.get_traced_memory()[0]
        attack.run(1_400)
        assert {name: size for name, size in _unbounded().items() if size > unbounded.get(name, 8)} == {}
        _forget()
        assert tracemalloc.get_traced_memory()[0] - once < 700_000
    finally:
        tracemalloc.stop()


def _caches() -> list[_lru_cache_wrapper[object]]:
    found = (each for each in gc.get_objects() if isinstance(each, _lru_cache_wrapper))
    return [each for each in found if each.__module__.startswith(("TokenOptEnv", "tests"))]


def _forget() -> None:
    for each in _caches():
        if each.cache_info().maxsize is not None:
            each.cache_clear()
    gc.collect()


def _unbounded() -> dict[str, int]:
    return {
        f"{each.__module__}.{each.__qualname__}": each.cache_info().currsize
        for each in _caches()
        if each.cache_info().maxsize is None
    }
