"""Somebody beside every run of the server bench, so that it ends with its server and not long after, or never.

A session that waits for an answer cannot tell a slow server from a dead one; its processes can. What they show is
looked at a few times a second, by the loop that plays, and costs the run nothing that could be measured.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation.bench_processes import BenchServer

_LOOK_SECONDS: Final = 0.25
_GRACE_SECONDS: Final = 0.5
"""Connections end before the process that held them is seen to: so long the cause is waited for."""
_DEAF_SECONDS: Final = 10
_DEAF_NS: Final = 100_000_000
"""Without an answer, and without even this much of processor time: it is stuck, and no patience helps."""
_PATIENCE_SECONDS: Final = 120
"""A thousand handshakes on a busy machine, or a worker that is still planning."""

_T = TypeVar("_T")


async def watched(work: Coroutine[Any, Any, _T], server: BenchServer, answers: Callable[[], int]) -> _T:
    """What `work` gives. Whatever ends it, nothing of it runs on; `answers` counts what it has heard so far."""
    playing = asyncio.ensure_future(work)
    silence = _Silence(server, answers)
    try:
        while not playing.done():
            await asyncio.wait({playing}, timeout=_LOOK_SECONDS)
            server.check()
            silence.check()
        return playing.result()
    except BadInput:
        await _look_for_the_cause(server)
        raise
    finally:
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)


async def _look_for_the_cause(server: BenchServer) -> None:
    """That a session was cut off says less than that its server was killed."""
    ends_at = time.monotonic() + _GRACE_SECONDS
    while time.monotonic() < ends_at:
        server.check()
        await asyncio.sleep(_LOOK_SECONDS / 5)


class _Silence:
    def __init__(self, server: BenchServer, answers: Callable[[], int]) -> None:
        self._server = server
        self._answers = answers
        self._heard = -1
        self._since = 0.0
        self._cpu_ns: int | None = None

    def check(self) -> None:
        heard, now = self._answers(), time.monotonic()
        if heard != self._heard:
            self._heard, self._since, self._cpu_ns = heard, now, self._server.cpu_ns()
            return
        silent_s = now - self._since
        if silent_s > _PATIENCE_SECONDS or (silent_s > _DEAF_SECONDS and self._does_nothing()):
            raise BadInput(
                f"the bench's server {self._server.name!r} answered nothing for {silent_s:.0f} s"
                f" after {self._heard} answers; it hangs or was stopped, so start the bench again"
            )

    def _does_nothing(self) -> bool:
        cpu_ns = self._server.cpu_ns()
        return cpu_ns is not None and self._cpu_ns is not None and cpu_ns - self._cpu_ns < _DEAF_NS
