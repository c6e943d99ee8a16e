"""Work spread over a Ray cluster: the same contract as `pool`, on other machines.

With `RAY_ADDRESS` set a running cluster is used, whose nodes must have this package; otherwise one is started here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from typing import Any, TypeVar

from TokenOptEnv.errors import BadInput, CamreError

T = TypeVar("T")
R = TypeVar("R")

_QUEUED_PER_WORKER = 2


def results(work: Callable[[T], R], items: Sequence[T], workers: int) -> Iterator[R]:
    """What `work` gives for each item, in the order in which it is done."""
    if workers < 1:
        raise BadInput(f"{workers} workers do no work; give 1 or more")
    ray = _ray()
    started = not ray.is_initialized()
    if started:
        address = os.environ.get("RAY_ADDRESS")
        cluster = {"address": address} if address else {"num_cpus": workers, "include_dashboard": False}
        ray.init(log_to_driver=False, logging_level="ERROR", **cluster)
    try:
        yield from _drained(ray, work, items, workers * _QUEUED_PER_WORKER)
    finally:
        if started:
            ray.shutdown()


def _drained(ray: Any, work: Callable[[T], R], items: Sequence[T], queued: int) -> Iterator[R]:
    apply = ray.remote(_apply)
    shared = ray.put(work)
    left = iter(items)
    running = [apply.remote(shared, item) for item in islice(left, queued)]
    while running:
        done, running = ray.wait(running, num_returns=1)
        for reference in done:
            yield _got(ray, reference)
            running += [apply.remote(shared, item) for item in islice(left, 1)]


def _apply(work: Callable[[T], R], item: T) -> R:
    return work(item)


def _got(ray: Any, reference: Any) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as fault:
        cause = fault.cause
        if isinstance(cause, CamreError):
            raise BadInput(str(cause)) from None
        raise
    except ray.exceptions.RayError as fault:
        raise BadInput(f"the cluster failed: {type(fault).__name__}; start the same command again") from None


def _ray() -> Any:
    try:
        return import_module("ray")
    except ImportError:
        raise BadInput("engine 'ray' needs Ray; install it: pip install 'openenv-TokenOptEnv[ray]'") from None
