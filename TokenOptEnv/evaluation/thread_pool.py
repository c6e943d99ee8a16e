"""Work spread over threads of this process: for work that waits for others, and shares what it waits with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

from TokenOptEnv.errors import BadInput

T = TypeVar("T")
R = TypeVar("R")


def results(work: Callable[[T], R], items: Sequence[T], workers: int) -> Iterator[R]:
    """What `work` gives for each item, in the order in which it is done.

    No thread is ever a step ahead: once one has failed, nothing more is begun, since it might cost money and fail too.
    What others had under way is still given before the fault is raised.
    """
    if workers < 1:
        raise BadInput(f"{workers} workers do no work; give 1 or more")
    left = iter(items)
    fault: BaseException | None = None
    with ThreadPoolExecutor(workers) as crew:
        running: set[Future[R]] = {crew.submit(work, item) for item in islice(left, workers)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            fault = next((found for found in (each.exception() for each in done) if found is not None), fault)
            yield from (each.result() for each in done if each.exception() is None)
            if fault is None:
                running.update(crew.submit(work, item) for item in islice(left, len(done)))
    if fault is not None:
        raise fault
