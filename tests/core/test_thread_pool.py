"""Threads that wait for others: as many as asked for, and none goes on once one has failed."""

from __future__ import annotations

import threading

import pytest

from TokenOptEnv.errors import BackendFailed, BadInput
from TokenOptEnv.evaluation import thread_pool


def test_every_item_is_worked_on_once() -> None:
    assert sorted(thread_pool.results(lambda item: item * item, range(20), 3)) == [item * item for item in range(20)]
    assert list(thread_pool.results(str, [], 3)) == []


def test_as_many_as_asked_for_are_under_way_at_once() -> None:
    together = threading.Barrier(3, timeout=20)
    assert sorted(thread_pool.results(lambda item: (together.wait(), item)[1], range(6), 3)) == list(range(6))


def test_after_a_fault_nothing_is_begun_and_what_was_under_way_is_given_first() -> None:
    begun: list[int] = []
    failed = threading.Event()

    def work(item: int) -> int:
        begun.append(item)
        if item == 0:
            failed.set()
            raise BackendFailed("it does not answer")
        assert failed.wait(20)
        return item

    given: list[int] = []
    with pytest.raises(BackendFailed, match="it does not answer"):
        for result in thread_pool.results(work, range(10), 2):
            given.append(result)
    assert given == [1] and sorted(begun) == [0, 1]


def test_who_looks_away_is_not_left_with_threads() -> None:
    before = threading.active_count()
    given = thread_pool.results(lambda item: item, range(50), 2)
    assert next(given) in (0, 1)
    given.close()
    assert threading.active_count() == before


def test_no_workers_do_no_work() -> None:
    with pytest.raises(BadInput, match="0 workers do no work"):
        list(thread_pool.results(str, [1], 0))
