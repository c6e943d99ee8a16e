"""What to search for a question by: its own words, without those that say nothing or that would mislead."""

from __future__ import annotations

from TokenOptEnv import questions

_ASKED = "Which commit broke orders.pool, if any: abc.get, tests.yml, stepfold or lru? Look for timeout, pool, commit."


def test_words_stay_in_their_order_each_once_and_hints_lose_their_introduction() -> None:
    asked = "Which commit of orders.pool broke it? Traces of it: timeout, pool, lease, commit."
    assert questions.content_words(asked) == ["commit", "orders.pool", "broke", "timeout", "pool", "lease"]


def test_hints_are_told_from_what_is_asked() -> None:
    assert questions.without_hints(_ASKED).endswith("stepfold or lru? ")
    assert questions.without_hints("Which pool is it? Say so.") == "Which pool is it? Say so."


def test_what_there_is_to_choose_from_can_be_left_out() -> None:
    assert (
        questions.without_choices(_ASKED) == "Which commit broke orders.pool, if any? Look for timeout, pool, commit."
    )
    assert questions.without_choices("Which of a: b or c?") == "Which of a: b or c?"
