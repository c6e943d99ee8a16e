"""A step that was recorded once and is played again: one launch in place of a thousand."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch

Step = Callable[[], None]
_REHEARSALS = 2
"""Before a recording: libraries choose kernels and set memory aside when they first see a shape."""


class Recorder:
    """On a GPU. Elsewhere, and after a recording has failed, steps are played as they are."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._records = device.type == "cuda"
        self._aside: torch.cuda.Stream | None = None
        self._memory: Any = None

    def forget(self) -> None:
        """To be called when all recordings are dropped: their memory goes with them."""
        self._memory = None

    def recorded(self, step: Step, rest: Step) -> Step:
        """`rest` puts the step's counters back to where any number of rehearsals may start."""
        if not self._records:
            return step
        try:
            return self._recorded(step, rest)
        except (AssertionError, RuntimeError) as fault:
            self._records = False
            cause = (str(fault) or type(fault).__name__).splitlines()[0]
            sys.stdout.write(f"decoding is not recorded and will be slower: {cause}\n")
            sys.stdout.flush()
            return step

    def _recorded(self, step: Step, rest: Step) -> Step:
        """All recordings share one memory: nothing in it outlives a step, and steps never overlap."""
        home = torch.cuda.current_stream(self._device)
        aside = self._aside = self._aside or torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
        self._memory = self._memory or torch.cuda.graph_pool_handle()
        try:
            aside.wait_stream(home)
            with torch.cuda.stream(aside):
                for _ in range(_REHEARSALS):
                    rest()
                    step()
                rest()
            home.wait_stream(aside)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=self._memory, stream=aside, capture_error_mode="thread_local"):
                step()
        finally:
            torch.cuda.set_stream(home)
        return graph.replay
