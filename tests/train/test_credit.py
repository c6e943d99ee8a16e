"""Where in an episode its advantage was won or lost."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from training.credit import by_branch, tapered


def said(*episodes: list[int]) -> list[NDArray[np.int32]]:
    return [np.asarray(each, dtype=np.int32) for each in episodes]


def test_the_token_at_which_episodes_part_gets_what_they_differ_by() -> None:
    one, other = by_branch(said([1, 2, 3, 9], [1, 2, 4, 9]), [1.0, 0.0])
    assert one.tolist() == [0.0, 0.0, 0.5, 0.0] and other.tolist() == [0.0, 0.0, -0.5, 0.0]


def test_a_later_choice_is_measured_among_those_who_had_it() -> None:
    found = by_branch(said([1, 5], [1, 6], [2, 5], [2, 6]), [1.0, 0.5, 0.5, 0.0])
    assert [each.tolist() for each in found] == [[0.25, 0.25], [0.25, -0.25], [-0.25, 0.25], [-0.25, -0.25]]


def test_along_an_episode_credits_add_up_to_its_advantage() -> None:
    draws = np.random.default_rng(3)
    texts = [draws.integers(0, 3, size=12).astype(np.int32) for _ in range(16)]
    worths = draws.random(16)
    found = by_branch(texts, worths.tolist())
    assert [float(each.sum()) for each in found] == pytest.approx((worths - worths.mean()).tolist(), abs=1e-6)


def test_nobody_is_owed_anything_where_all_end_alike_or_say_the_same() -> None:
    assert not np.concatenate(by_branch(said([1, 2], [1, 3], [4]), [0.1 + 0.2, 0.3, 0.3])).any()
    assert not np.concatenate(by_branch(said([1, 2], [1, 2]), [0.7, 0.7])).any()


def test_where_nobody_else_has_been_nothing_is_known() -> None:
    alone, *_ = by_branch(said([1, 7, 8, 9], [2, 7], [2, 8]), [0.0, 1.0, 1.0])
    assert alone[0] < 0.0 and not alone[1:].any()


def test_what_was_drawn_boldly_and_is_worse_counts_as_often_as_it_would_have_been_said() -> None:
    found = tapered(np.asarray([-1.0, -1.0, 1.0], dtype=np.float32), np.log(np.asarray([4.0, 0.5, 4.0], np.float32)))
    assert found.tolist() == pytest.approx([-0.25, -1.0, 1.0])
