"""What a stated confidence is worth, and when asking another model pays: against draws of the simulator's own."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean

import pytest

from TokenOptEnv.catalog import Behaviour, load_behaviours
from TokenOptEnv.simulators.escalation import break_even, second_opinion, trust
from TokenOptEnv.simulators.odds import log_odds, stated_confidence, threshold
from TokenOptEnv.streams import normal

CONSTANTS, BEHAVIOURS = load_behaviours("measured")
QUESTIONS = 20_000
FIRST, SECOND = 0.7, 0.85
MODELS = ("gpt-5-mini", "claude-sonnet-4.6")


def _draws(model_id: str, chance: float) -> list[tuple[bool, float]]:
    """Right or wrong, and the confidence stated, question by question."""
    behaviour = BEHAVIOURS[model_id]
    found = []
    for question in range(QUESTIONS):
        right = threshold("escalation", question, 0, "q", model_id, rho=CONSTANTS.rho) < chance
        signal = behaviour.confidence_signal if right else -behaviour.confidence_signal
        noise = behaviour.confidence_noise * normal("escalation", question, model_id)
        level = CONSTANTS.confidence_slope * log_odds(chance) + behaviour.confidence_bias + signal + noise
        found.append((right, stated_confidence(level)))
    return found


@pytest.mark.parametrize("model_id", MODELS)
def test_answers_stated_with_the_same_confidence_are_right_as_often_as_trust_says(model_id: str) -> None:
    draws = sorted(_draws(model_id, FIRST), key=lambda draw: draw[1])
    fifth = QUESTIONS // 5
    for start in range(0, QUESTIONS, fifth):
        part = draws[start : start + fifth]
        expected = fmean(trust(CONSTANTS, BEHAVIOURS[model_id], FIRST, confidence) for _, confidence in part)
        assert abs(fmean(right for right, _ in part) - expected) < 0.03


def test_a_second_model_is_right_as_often_as_said_after_a_right_and_after_a_wrong_answer() -> None:
    first, second = ([right for right, _ in _draws(m, p)] for m, p in zip(MODELS, (FIRST, SECOND), strict=True))
    given_right, given_wrong = second_opinion(CONSTANTS.rho, FIRST, SECOND)
    assert abs(fmean(b for a, b in zip(first, second, strict=True) if a) - given_right) < 0.02
    assert abs(fmean(b for a, b in zip(first, second, strict=True) if not a) - given_wrong) < 0.02
    assert given_wrong < SECOND < given_right


def _line(
    price: int, value: int = 100_000, first: float = FIRST, behaviour: Behaviour = BEHAVIOURS[MODELS[0]]
) -> float:
    return break_even(CONSTANTS, behaviour, first, SECOND, price, value)


def test_the_dearer_the_second_opinion_the_less_confidence_is_enough_to_do_without() -> None:
    lines = [_line(price) for price in (2_000, 5_000, 10_000, 15_000, 25_000, 60_000)]
    assert lines == sorted(lines, reverse=True)
    assert 0.0 < lines[2] < 1.0
    assert lines[-1] == 0.0


def test_a_second_opinion_that_costs_nothing_and_is_always_right_always_pays() -> None:
    assert break_even(CONSTANTS, BEHAVIOURS[MODELS[0]], 0.5, 1.0 - 1e-12, 0, 100_000) >= 0.99


def test_asking_on_below_the_line_and_nowhere_else_earns_most() -> None:
    """Value of right answers less prices paid, over drawn questions: the derived line beats others around it."""
    price, value = 12_000, 100_000
    line = _line(price, value)
    first, second = _draws(MODELS[0], FIRST), _draws(MODELS[1], SECOND)

    def earned(below: float) -> float:
        return fmean(
            value * b_right - price if confidence < below else value * a_right
            for (a_right, confidence), (b_right, _) in zip(first, second, strict=True)
        )

    best = earned(line)
    assert best > earned(0.0)
    assert best > earned(1.0)
    for near, far in pairwise([0.0, 0.05, 0.12]):
        assert min(earned(line - near), earned(line + near)) >= min(earned(line - far), earned(line + far)) - 150
