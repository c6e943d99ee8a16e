"""Teachers learn from what they were shown, and it shows in how they play."""

from __future__ import annotations

from statistics import fmean

import pytest

from TokenOptEnv.config import EpisodeConfig
from training import first_try
from training.collect import Job, collect_case, first_tries
from training.first_try import Asked
from training.teacher import EVERY_HABIT, content_words

_CASE = "ci-easy-g000014"


def asked(right: bool, *cites: str) -> Asked:
    return Asked("q1", "small", cites, right)


def test_evidence_is_what_right_answers_cited_most_often() -> None:
    tries = [asked(True, "a-s2", "a-s1"), asked(True, "a-s1", "a-s2"), asked(True, "a-s3"), asked(False, "a-s3")]
    assert first_try.evidence(tries) == {"q1": ("a-s1", "a-s2")}


def test_wrong_answers_tell_nothing() -> None:
    assert first_try.evidence([asked(False, "a-s1")]) == {}


def test_the_words_of_a_question_are_copied_in_its_order() -> None:
    question = "Which commit of orders.pool broke it? Traces of it: timeout, pool, lease, commit."
    assert content_words(question) == ["commit", "orders.pool", "broke", "timeout", "pool", "lease"]


@pytest.fixture(scope="module")
def job() -> Job:
    return Job(_CASE, EpisodeConfig(), EVERY_HABIT, least_return=0.25)


def test_first_tries_ask_different_models_and_are_the_same_again(job: Job) -> None:
    tries = first_tries(job)
    assert len({each.model_id for each in tries}) > 2
    assert first_tries(job) == tries


def test_a_teacher_who_has_tried_does_better_than_one_who_has_not(job: Job) -> None:
    evidence = first_try.evidence(first_tries(job))
    assert evidence
    noted = Job(_CASE, EpisodeConfig(), EVERY_HABIT, least_return=0.25, evidence=evidence)
    before, after = collect_case(job), collect_case(noted)
    assert after.case.best_return > before.case.best_return
    assert len(after.traces) == after.solved
    assert fmean(len(trace.actions) for trace in after.traces) < 8
