"""Search is BM25 over terms that fit code and logs, the same in any order of asking."""

from __future__ import annotations

import os
import subprocess
import sys
from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from TokenOptEnv.simulators import terms
from TokenOptEnv.simulators.retrieval import K1, SNIPPET_CHARACTERS, B, Hit, Retriever

SEGMENTS = (
    ("log-s1", "12:00:01 INFO consumer lag=12 partition=7\n12:00:02 INFO consumer lag=90 partition=7\n"),
    ("log-s2", "12:00:03 ERROR flush failed request_id=8f3a2c91\nPoolTimeout: no connection\n"),
    ("code-s1", "class OrderPool:\n    def acquire_timeout_ms(self) -> int:\n        return self.limits.maxWait\n"),
    ("config-s1", "pool:\n  max: 4\n  kafka.consumer.group: payments\n"),
)


def ids(query: str, top_k: int = 8) -> list[str]:
    return [hit.segment_id for hit in Retriever(SEGMENTS).search(query, top_k)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("OrderPool.acquire_timeout_ms", "orderpool.acquire_timeout_ms orderpool order pool acquire timeout ms"),
        ("HTTPServer", "httpserver http server"),
        ("kafka.consumer.lag_ms", "kafka.consumer.lag_ms kafka consumer lag_ms lag ms"),
        ("request_id=8f3a2c91", "request_id request id 8f3a2c91"),
        ("10.0.3.14:9092", "10.0.3.14 9092"),
        ("2026-03-01T12:00:01.123Z", "2026-03-01 12:00:01"),
        ("v1.2.3", "v1.2.3"),
        ("0xDEADBEEF", "0xdeadbeef"),
    ],
)
def test_a_word_is_found_by_its_parts_and_as_a_whole_and_ids_stay_whole(text: str, expected: str) -> None:
    assert set(expected.split()) <= set(terms.terms(text))


@pytest.mark.parametrize("whole", ["8f3a2c91", "v1.2.3", "12ms", "12:00:01"])
def test_half_an_id_or_a_number_is_no_term(whole: str) -> None:
    assert terms.terms(whole) == [whole]


def test_function_words_are_no_terms() -> None:
    assert terms.terms("What is the cause of it") == ["cause"]


def test_a_query_finds_words_identifiers_parts_and_ids() -> None:
    assert ids("8f3a2c91") == ["log-s2"]
    assert ids("acquire timeout")[0] == "code-s1"
    assert ids("max wait")[0] == "code-s1"
    assert ids("consumer group")[0] == "config-s1"
    assert set(ids("pool")) == {"log-s2", "code-s1", "config-s1"}


def test_a_query_with_no_known_term_finds_nothing() -> None:
    assert ids("zebra") == []
    assert ids("") == []
    assert ids("what is the") == []
    assert Retriever(()).search("pool", 3) == ()


def test_top_k_bounds_the_hits_and_keeps_the_best() -> None:
    assert ids("pool consumer", 2) == ids("pool consumer")[:2]
    assert ids("pool", 0) == []


def test_scores_are_bm25_to_four_decimals() -> None:
    """Against the formula, written down a second time and slowly."""
    texts = ["alpha beta beta", "beta gamma", "alpha alpha alpha delta delta delta", "epsilon"]
    documents = [text.split() for text in texts]
    mean = sum(map(len, documents)) / len(documents)

    def expected(words: list[str], query: list[str]) -> float:
        total = 0.0
        for term in query:
            df = sum(term in other for other in documents)
            idf = log(1 + (len(documents) - df + 0.5) / (df + 0.5))
            tf = words.count(term)
            total += idf * tf * (K1 + 1) / (tf + K1 * (1 - B + B * len(words) / mean))
        return total

    hits = Retriever([(str(index), text) for index, text in enumerate(texts)]).search("beta alpha", 4)
    assert len(hits) == 3
    for hit in hits:
        assert hit.score == pytest.approx(expected(documents[int(hit.segment_id)], ["beta", "alpha"]), abs=1.1e-4)
        assert hit.score == round(hit.score, 4)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_equal_scores_come_in_the_order_of_the_segments() -> None:
    hits = Retriever([(f"s{n}", "same words here") for n in range(20)]).search("words", 5)
    assert [hit.segment_id for hit in hits] == ["s0", "s1", "s2", "s3", "s4"]
    assert len({hit.score for hit in hits}) == 1


def test_the_snippet_is_the_line_that_matches_best() -> None:
    hit = Retriever(SEGMENTS).search("PoolTimeout connection", 1)[0]
    assert hit.snippet == "PoolTimeout: no connection"
    assert Retriever(SEGMENTS).search("lag 90", 1)[0].snippet == "12:00:02 INFO consumer lag=90 partition=7"


@pytest.mark.parametrize("lead", [0, 40, 400, 795])
def test_a_long_line_is_shown_around_its_match(lead: int) -> None:
    line = ("x" * 4 + " ") * (lead // 5) + "needle" + " yyyy" * ((800 - lead) // 5)
    snippet = Retriever([("a", line), ("b", "other")]).search("needle", 1)[0].snippet
    assert "needle" in snippet
    assert snippet.strip("…") in line
    assert len(snippet) <= SNIPPET_CHARACTERS + 2


def test_results_do_not_depend_on_what_was_asked_before() -> None:
    queries = ["pool", "consumer lag", "failed request", "class order"]
    used = Retriever(SEGMENTS)
    forward = [used.search(query, 3) for query in queries]
    backward = [used.search(query, 3) for query in reversed(queries)]
    fresh = [Retriever(SEGMENTS).search(query, 3) for query in queries]
    assert forward == fresh == backward[::-1]


def test_the_order_and_repetition_of_query_words_do_not_matter() -> None:
    retriever = Retriever(SEGMENTS)
    assert retriever.search("pool consumer lag", 4) == retriever.search("lag lag pool consumer", 4)


def test_hits_are_the_same_under_another_hash_seed() -> None:
    code = (
        "from TokenOptEnv.simulators.retrieval import Retriever\n"
        f"print(Retriever({SEGMENTS!r}).search('pool consumer lag failed timeout', 4))"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert answers == {f"{Retriever(SEGMENTS).search('pool consumer lag failed timeout', 4)}\n"}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=120), max_size=6), st.text(max_size=60), st.integers(0, 9))
def test_any_text_can_be_indexed_and_asked(texts: list[str], query: str, top_k: int) -> None:
    segments = [(str(index), text) for index, text in enumerate(texts)]
    hits = Retriever(segments).search(query, top_k)
    assert len(hits) <= top_k
    assert all(isinstance(hit, Hit) and hit.score >= 0 for hit in hits)
    assert all(hit.snippet.strip("…") in texts[int(hit.segment_id)] for hit in hits)
