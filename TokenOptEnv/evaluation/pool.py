"""Work spread over processes, which end with the one that started them.

A process killed at once (`kill -9`) can tell nobody. So every worker watches its parent and ends when that has gone,
instead of waiting for ever for work that nobody will send.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context, parent_process
from typing import TypeVar

from TokenOptEnv.errors import BadInput

T = TypeVar("T")
R = TypeVar("R")

_QUEUED_PER_WORKER = 2
"""Little is sent ahead, so that an interrupted run ends soon."""


def results(work: Callable[[T], R], items: Sequence[T], workers: int) -> Iterator[R]:
    """What `work` gives for each item, in the order in which it is done; with one worker, in this process."""
    if workers < 1:
        raise BadInput(f"{workers} workers do no work; give 1 or more")
    if workers == 1 or len(items) < 2:
        yield from map(work, items)
        return
    with ProcessPoolExecutor(
        min(workers, len(items)), mp_context=get_context("spawn"), initializer=_end_with_parent
    ) as pool:
        try:
            yield from _drained(pool, work, items, workers * _QUEUED_PER_WORKER)
        except BrokenProcessPool:
            raise BadInput("a worker process was ended from outside; start the same command again") from None
        finally:
            pool.shutdown(cancel_futures=True)


def _drained(pool: ProcessPoolExecutor, work: Callable[[T], R], items: Sequence[T], queued: int) -> Iterator[R]:
    left = iter(items)
    running: set[Future[R]] = {pool.submit(work, item) for item in islice(left, queued)}
    while running:
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield future.result()
            running.update(pool.submit(work, item) for item in islice(left, 1))


def _end_with_parent() -> None:
    threading.Thread(target=_watch_parent, daemon=True).start()


def _watch_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
