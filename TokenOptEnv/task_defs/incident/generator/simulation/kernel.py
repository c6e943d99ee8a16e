"""The event loop: processes are generators, time is whole milliseconds.

A process yields what it waits for: a number of milliseconds, a signal, or a signal with a limit. Written here
rather than taken from a library because a case costs thousands of events and must be made in a fraction of a
second; the manner of use is that of SimPy. Events of the same millisecond happen in the order they were asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, TypeAlias


class Signal:
    """Something that happens once; `value` is what it brought."""

    __slots__ = ("fired", "value", "waiting")

    def __init__(self) -> None:
        self.fired = False
        self.value: Any = None
        self.waiting: list[tuple[_Running, int]] = []


@dataclass(frozen=True, slots=True)
class Within:
    """Wait for a signal, but not longer than this; the process is told whether it came."""

    signal: Signal
    limit_ms: int


Wanted: TypeAlias = "int | Signal | Within"
Process: TypeAlias = Generator[Wanted, bool, Any]


class _Running:
    __slots__ = ("done", "process", "turn")

    def __init__(self, process: Process) -> None:
        self.process = process
        self.done = Signal()
        self.turn = 0
        """Which wait it is in. A wake-up for an earlier one, a limit that was not reached, is void."""


class Kernel:
    def __init__(self) -> None:
        self.now_ms = 0
        self._events: list[tuple[int, int, _Running, int, bool]] = []
        self._made = 0

    def start(self, process: Process, at_ms: int | None = None) -> Signal:
        """Run a process from now, or from a later time; the signal brings what it returns."""
        running = _Running(process)
        self._wake(running, 0, self.now_ms if at_ms is None else at_ms, True)
        return running.done

    def fire(self, signal: Signal, value: Any = None) -> None:
        signal.fired, signal.value = True, value
        for running, turn in signal.waiting:
            self._wake(running, turn, self.now_ms, True)
        signal.waiting.clear()

    def run(self, until_ms: int) -> None:
        events = self._events
        while events and events[0][0] < until_ms:
            self.now_ms, _, running, turn, came = heappop(events)
            if turn == running.turn:
                self._step(running, came)

    def _wake(self, running: _Running, turn: int, at_ms: int, came: bool) -> None:
        self._made += 1
        heappush(self._events, (at_ms, self._made, running, turn, came))

    def _step(self, running: _Running, came: bool) -> None:
        running.turn += 1
        try:
            wanted = running.process.send(came) if running.turn > 1 else next(running.process)
        except StopIteration as end:
            self.fire(running.done, end.value)
            return
        if isinstance(wanted, int):
            self._wake(running, running.turn, self.now_ms + wanted, True)
            return
        signal = wanted if isinstance(wanted, Signal) else wanted.signal
        if signal.fired:
            self._wake(running, running.turn, self.now_ms, True)
            return
        signal.waiting.append((running, running.turn))
        if isinstance(wanted, Within):
            self._wake(running, running.turn, self.now_ms + wanted.limit_ms, False)


class Slots:
    """So many may be in use at once; the others stand in line."""

    def __init__(self, kernel: Kernel, size: int) -> None:
        self._kernel = kernel
        self.size = size
        self.used = 0
        self._line: deque[Signal] = deque()

    @property
    def waiting(self) -> int:
        return len(self._line)

    def take(self, patience_ms: int) -> Generator[Wanted, bool, bool]:
        """`yield from` this; it tells whether a slot was had in time."""
        if self.used < self.size:
            self.used += 1
            return True
        turn = Signal()
        self._line.append(turn)
        if (yield Within(turn, patience_ms)) or turn.fired:
            return True
        self._line.remove(turn)
        return False

    def give_back(self) -> None:
        if self._line:
            self._kernel.fire(self._line.popleft())
        else:
            self.used -= 1
