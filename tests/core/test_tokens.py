"""Token counts are those of real vocabularies, and a clipped text keeps its cap."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from TokenOptEnv.errors import UnknownName
from TokenOptEnv.simulators import tokens

LOG_LINE = "2026-03-01T12:00:01.123Z INFO [reconciler] consumer group=pay-42 lag=1234 größe 東京 👩‍👩‍👧\n"


@pytest.mark.parametrize("vocabulary", tokens.VOCABULARIES)
def test_every_vocabulary_counts_offline(vocabulary: str) -> None:
    assert tokens.count(vocabulary, "") == 0
    assert 0 < tokens.count(vocabulary, LOG_LINE) < len(LOG_LINE)


@pytest.mark.parametrize("vocabulary", tokens.VOCABULARIES)
def test_text_that_spells_a_special_token_is_still_text(vocabulary: str) -> None:
    assert tokens.count(vocabulary, "<|endoftext|>") > 1
    assert tokens.count(vocabulary, "<|im_start|>") > 1


def test_the_yardstick_splits_digits_as_small_open_models_do() -> None:
    assert tokens.count("qwen3", "20260301") == 8
    assert tokens.count("o200k_base", "20260301") < 8


def test_bills_differ_by_vocabulary() -> None:
    assert len({tokens.count(vocabulary, LOG_LINE * 4) for vocabulary in tokens.VOCABULARIES}) > 3


def test_an_unknown_vocabulary_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"no vocabulary 'qwen4'; did you mean 'qwen3'\?"):
        tokens.count("qwen4", "text")


def test_a_text_within_the_cap_is_not_touched() -> None:
    assert tokens.clip("qwen3", LOG_LINE, tokens.count("qwen3", LOG_LINE)) == LOG_LINE


def test_a_clipped_text_is_a_prefix_with_a_mark_and_fills_its_cap() -> None:
    text = LOG_LINE * 20
    clipped = tokens.clip("qwen3", text, 90)
    assert clipped.endswith(tokens.CUT_MARK)
    assert text.startswith(clipped.removesuffix(tokens.CUT_MARK))
    assert 85 <= tokens.count("qwen3", clipped) <= 90


def test_a_run_of_blanks_wider_than_any_guess_is_clipped_to_its_cap_too() -> None:
    clipped = tokens.clip("qwen3", " " * 10_000 + "x y z " * 200, 40)
    assert tokens.count("qwen3", clipped) <= 40


@pytest.mark.parametrize("vocabulary", tokens.VOCABULARIES)
@pytest.mark.parametrize("cap", [-1, 0, 1, 2, 7, 50])
def test_no_vocabulary_clips_above_the_cap(vocabulary: str, cap: int) -> None:
    assert tokens.count(vocabulary, tokens.clip(vocabulary, LOG_LINE * 3, cap)) <= max(0, cap)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300), st.integers(0, 60))
def test_clip_keeps_any_text_within_any_cap(text: str, cap: int) -> None:
    clipped = tokens.clip("qwen3", text, cap)
    assert tokens.count("qwen3", clipped) <= cap
    assert clipped == text or text.startswith(clipped.removesuffix(tokens.CUT_MARK))
