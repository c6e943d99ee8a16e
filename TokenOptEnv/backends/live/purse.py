"""The money for one question: set aside and written down before each call, settled after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from TokenOptEnv.backends.live.spending_cap import SpendingCap
from TokenOptEnv.backends.recording import Call, Recorder


class Bill:
    """What a call turned out to cost. Until somebody knows better, that is the worst."""

    def __init__(self, worst_nano_usd: int) -> None:
        self.nano_usd = worst_nano_usd


class Purse:
    def __init__(self, key: str, cap: SpendingCap, recorder: Recorder) -> None:
        self.calls = 0
        self.paid_nano_usd = 0
        self._key = key
        self._cap = cap
        self._recorder = recorder

    @contextmanager
    def call(self, worst_nano_usd: int) -> Iterator[Bill]:
        self._cap.reserve(worst_nano_usd)
        bill = Bill(worst_nano_usd)
        try:
            self._recorder.add(Call(key=self._key, worst_nano_usd=worst_nano_usd))
            self.calls += 1
            yield bill
        finally:
            self._cap.settle(worst_nano_usd, bill.nano_usd)
            self.paid_nano_usd += bill.nano_usd
