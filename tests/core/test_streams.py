"""Named streams: a draw depends on what it is for, and on nothing else."""

from __future__ import annotations

from statistics import fmean, stdev

from hypothesis import given
from hypothesis import strategies as st

from TokenOptEnv.streams import Stream, normal, uniform, word

KEYS = st.lists(st.one_of(st.text(max_size=8), st.integers()), min_size=1, max_size=4)


def test_a_word_is_the_same_on_every_machine() -> None:
    assert word("case", 7, "route", "model") == 0x0C24697CF0DCD20F
    assert uniform("case", 7) == 0.14470302463532947
    assert normal("case", 7) == -1.059425483
    assert Stream("case", 7).hex(20) == "ca8c597432e4e5a836fe"


@given(KEYS)
def test_a_draw_is_a_function_of_its_key(key: list[str | int]) -> None:
    assert word(*key) == word(*key)
    assert 0.0 < uniform(*key) < 1.0
    assert -10.0 < normal(*key) < 10.0


def test_where_one_part_of_a_key_ends_matters() -> None:
    assert word("ab", "c") != word("a", "bc")
    assert word("a", "b") != word("b", "a")
    assert word("a") != word("a", "")


def test_draws_do_not_depend_on_what_was_drawn_before() -> None:
    fresh = Stream("b").random()
    other = Stream("a")
    for _ in range(10):
        other.random()
    assert Stream("b").random() == fresh


def test_neighbouring_seeds_share_nothing() -> None:
    sequences = []
    for seed in range(50):
        stream = Stream(seed, "x")
        sequences.append(tuple(stream.integer(0, 10**9) for _ in range(20)))
    flat = [draw for sequence in sequences for draw in sequence]
    assert len(set(flat)) == len(flat)


def test_uniform_draws_are_uniform_and_normal_draws_normal() -> None:
    flat = [uniform("flat", number) for number in range(4_000)]
    assert abs(fmean(flat) - 0.5) < 0.02
    assert abs(sum(draw < 0.1 for draw in flat) / 4_000 - 0.1) < 0.02
    bell = [normal("bell", number) for number in range(4_000)]
    assert abs(fmean(bell)) < 0.06
    assert abs(stdev(bell) - 1.0) < 0.05


@given(st.integers(-50, 50), st.integers(0, 100), st.text(max_size=5))
def test_an_integer_lies_within_its_bounds(low: int, width: int, key: str) -> None:
    assert low <= Stream(key).integer(low, low + width) <= low + width


def test_an_integer_takes_both_bounds() -> None:
    stream = Stream("bounds")
    assert {stream.integer(1, 3) for _ in range(100)} == {1, 2, 3}


@given(st.lists(st.integers(), max_size=20), st.text(max_size=5))
def test_shuffling_loses_and_adds_nothing(items: list[int], key: str) -> None:
    assert sorted(Stream(key).shuffled(items)) == sorted(items)


def test_shuffling_shuffles() -> None:
    items = list(range(20))
    orders = {tuple(Stream("shuffle", seed).shuffled(items)) for seed in range(20)}
    assert len(orders) == 20
    assert items == list(range(20))


def test_a_chance_comes_true_about_as_often_as_it_says() -> None:
    stream = Stream("chance")
    assert abs(sum(stream.chance(0.3) for _ in range(2_000)) / 2_000 - 0.3) < 0.04
    assert not any(Stream("never", n).chance(0.0) for n in range(50))
    assert all(Stream("always", n).chance(1.0) for n in range(50))


def test_a_choice_is_one_of_the_options_and_reaches_each() -> None:
    stream = Stream("choice")
    assert {stream.choice("abc") for _ in range(100)} == set("abc")


def test_hex_digits_come_in_the_number_asked_for() -> None:
    assert [len(Stream("hex").hex(digits)) for digits in (0, 1, 16, 17, 40)] == [0, 1, 16, 17, 40]
    assert set(Stream("hex").hex(200)) <= set("0123456789abcdef")
