"""The cache finds an earlier question asked in other words, and keeps silent about questions it never saw."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from TokenOptEnv.scenario import CacheEntry
from TokenOptEnv.simulators.semantic_cache import FLOOR, SemanticCache
from TokenOptEnv.simulators.stems import concept, stem


def entry(entry_id: str, question: str, text: str, version: str = "v1") -> CacheEntry:
    return CacheEntry(
        entry_id=entry_id,
        subtask_id=entry_id,
        question=question,
        text=text,
        values={},
        version=version,
        age_hours=3,
        cites=(),
    )


ENTRIES = (
    entry("lag", "Why does the payments consumer lag behind on partition 7?", "The reconciler waits for a pool of 4."),
    entry("service", "Which service is the root cause of the incident?", "checkout-api ran out of connections."),
    entry("test", "Which test fails first in the CI run?", "tests/test_ledger.py::test_totals."),
    entry("commit", "Which commit introduced the failing test?", "8f3a2c9 changed rounding in ledger.py."),
    entry("function", "In which function is the bug?", "The defect is in OrderPool.acquire."),
    entry("certificate", "When does the TLS certificate of the gateway expire?", "It expired at noon."),
    entry("fix", "What remediation stops the retry storm?", "Cap retries and add jitter."),
    entry("memory", "Is the heap of search-indexer leaking memory?", "The heap grows 40 MB a minute."),
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Why is there a backlog on partition 7 of the payments consumer?", "lag"),
        ("what component caused the outage", "service"),
        ("first failing test", "test"),
        ("which change is to blame for the broken test", "commit"),
        ("where is the defect? name the method", "function"),
        ("has the gateway cert expired", "certificate"),
        ("how do we fix the retry storms", "fix"),
        ("memory leak in search indexer", "memory"),
    ],
)
def test_a_question_in_other_words_finds_the_earlier_one(query: str, expected: str) -> None:
    assert SemanticCache(ENTRIES).nearest(query)[0].entry.entry_id == expected


@pytest.mark.parametrize(
    "query",
    [
        "best pizza in town",
        "Why is the sky blue?",
        "How long does the garbage collector pause?",
        "which endpoint returns 500",
        "which",
        "",
        "???",
    ],
)
def test_a_question_never_asked_finds_nothing(query: str) -> None:
    assert SemanticCache(ENTRIES).nearest(query) == ()


@pytest.mark.parametrize("known", ENTRIES, ids=lambda known: known.entry_id)
def test_the_same_question_is_nearest_and_near_one(known: CacheEntry) -> None:
    best = SemanticCache(ENTRIES).nearest(known.question)[0]
    assert best.entry == known
    assert 0.9 < best.similarity <= 1.0


def test_matches_come_nearest_first_within_the_limit_and_above_the_floor() -> None:
    cache = SemanticCache(ENTRIES)
    matches = cache.nearest("Which commit broke the first failing test?", limit=8)
    similarities = [match.similarity for match in matches]
    assert len(matches) >= 2
    assert similarities == sorted(similarities, reverse=True)
    assert min(similarities) >= FLOOR
    assert cache.nearest("Which commit broke the first failing test?", limit=1) == matches[:1]
    assert cache.nearest("Which commit broke the first failing test?", limit=0) == ()


def test_two_versions_of_one_question_are_both_returned_in_their_order() -> None:
    question = "Which service is the root cause?"
    twins = [entry("old", question, "search-api", "v1"), entry("new", question, "search-api", "v2")]
    assert [match.entry.entry_id for match in SemanticCache(twins).nearest(question)] == ["old", "new"]


def test_the_results_text_weighs_less_than_the_question() -> None:
    asked = entry("asked", "Is the broker saturated?", "No.")
    told = entry("told", "Who is on call?", "The broker is saturated.")
    matches = SemanticCache([told, asked]).nearest("broker saturated", limit=2)
    assert matches[0].entry == asked


def test_a_cache_with_no_entries_answers_nothing() -> None:
    assert SemanticCache(()).nearest("anything") == ()


@pytest.mark.parametrize(
    "forms",
    [
        ("retry", "retries", "retried", "retrying"),
        ("fail", "fails", "failed", "failing"),
        ("cause", "causes", "caused", "causing"),
        ("deploy", "deploys", "deployed", "deployment", "deployments"),
        ("stop", "stops", "stopped", "stopping"),
        ("aggregate", "aggregates", "aggregated", "aggregation"),
    ],
)
def test_the_forms_of_a_word_share_a_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize("word", ["bus", "status", "class", "8f3a2c9s", "db", "pay-42"])
def test_no_ending_is_taken_from_a_word_that_has_none(word: str) -> None:
    assert stem(word) == word


def test_synonyms_share_a_concept_and_strangers_do_not() -> None:
    assert concept(stem("backlog")) == concept(stem("lagging")) is not None
    assert concept(stem("defects")) == concept(stem("bug")) is not None
    assert concept(stem("pizza")) is None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=40)), max_size=5), st.text(max_size=60))
def test_any_text_can_be_asked_and_similarity_stays_between_the_floor_and_one(
    texts: list[tuple[str, str]], query: str
) -> None:
    entries = [entry(str(index), question, text) for index, (question, text) in enumerate(texts)]
    for match in SemanticCache(entries).nearest(query, limit=5):
        assert FLOOR <= match.similarity <= 1.0
        assert match.similarity == round(match.similarity, 4)
