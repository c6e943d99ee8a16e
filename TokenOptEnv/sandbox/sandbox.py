"""This side of the wall: starts the zygote, hands requests to it, and takes what a patch says for nothing but text.

A sandbox starts with its first request and proves itself before it takes one: a few attempts that must fail. Where a
wall cannot be built or does not hold, nothing is run.
"""

from __future__ import annotations

import json
import marshal
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType, TracebackType
from typing import Any, Final

from TokenOptEnv.errors import SandboxUnavailable
from TokenOptEnv.sandbox.limits import LIMITS, SandboxLimits
from TokenOptEnv.sandbox.line import Line, Said
from TokenOptEnv.task_defs.execution import Call, Outcome, encoded_call, without_addresses

_MUST_FAIL: Final = {
    "start a process": Call("os", "fork"),
    "open a socket": Call("_socket", "socket"),
    "write outside its folder": Call("os", "mkdir", ("/runner/x",)),
    "see other processes": Call("os", "listdir", ("/proc",)),
    "become root": Call("os", "setuid", (0,)),
}
_MUST_WORK: Final = Call("colorsys", "rgb_to_hsv", (0, 0, 0))
"""Its module is none that the zygote has loaded, so it must be found in the standard library."""


class End(StrEnum):
    ANSWERED = "answered"
    SILENT = "silent"
    """It ended without an answer."""
    LATE = "late"
    """Out of processor time, or out of time."""
    TOO_LONG = "too long"


@dataclass(frozen=True, slots=True)
class Ran:
    end: End
    outcomes: tuple[Outcome, ...]
    """Empty unless it answered, and in the right form."""
    cpu_s: float
    """Processor time behind the wall."""


class Sandbox:
    """One zygote, which runs one patch at a time; threads take turns."""

    def __init__(self, limits: SandboxLimits = LIMITS) -> None:
        self._limits = limits
        self._turn = threading.Lock()
        self._line: Line | None = None
        self.cpu_s = 0.0
        """Processor time that its patches have taken so far."""

    def run(
        self,
        files: Mapping[str, str],
        calls: Sequence[Call],
        compiled: Mapping[str, bytes] = MappingProxyType({}),
        roots: Sequence[str] = (".", "src"),
    ) -> Ran:
        """What each call gives on `files`. Raises where no sandbox can be had; what a patch does never raises.

        `compiled` are byte-code files, by path, of those modules that need not be compiled again (`bytecode`).
        """
        request = _request(files, calls, compiled, roots)
        with self._turn:
            was_warm = self._line is not None
            try:
                ran = self._asked(request, len(calls))
            except SandboxUnavailable:
                if not was_warm:
                    raise
                ran = self._asked(request, len(calls))  # a zygote goes with the thread that started it
            self.cpu_s += ran.cpu_s
            return ran

    def _asked(self, request: bytes, count: int) -> Ran:
        line, self._line = self._line, None
        line = line if line is not None else _proven(Line(self._limits))
        try:
            ran = _answered(line, request, count)
        except BaseException:
            line.close()
            raise
        self._line = line
        return ran

    def close(self) -> None:
        with self._turn:
            if self._line is not None:
                self._line.close()
                self._line = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _proven(line: Line) -> Line:
    """Were one of the attempts to succeed, what looks like a wall is none."""
    calls = [_MUST_WORK, *_MUST_FAIL.values()]
    ran = _answered(line, _request({}, calls, {}, ()), len(calls))
    if ran.end is not End.ANSWERED or not ran.outcomes or ran.outcomes[0] != Outcome(("(0.0, 0.0, 0)",)):
        raise line.failed("a first trial in it did not end well")
    for what, outcome in zip(_MUST_FAIL, ran.outcomes[1:], strict=True):
        if not outcome.values[0].startswith("raises "):
            raise line.failed(f"what runs in it can {what}")
    return line


def _request(
    files: Mapping[str, str], calls: Sequence[Call], compiled: Mapping[str, bytes], roots: Sequence[str]
) -> bytes:
    """In the form that takes least time to read: both sides are one interpreter, and this one is trusted."""
    return marshal.dumps(
        {
            "files": {path: text.encode() for path, text in files.items()} | dict(compiled),
            "calls": [encoded_call(call) for call in calls],
            "roots": list(roots),
        }
    )


def _answered(line: Line, request: bytes, count: int) -> Ran:
    said = line.ask(request)
    end = _end(said)
    return Ran(end, _outcomes(said.answer, count) if end is End.ANSWERED else (), said.cpu_s)


def _end(said: Said) -> End:
    if said.too_long:
        return End.TOO_LONG
    if not said.in_time:
        return End.LATE
    return End.SILENT if said.answer is None else End.ANSWERED


def _outcomes(answer: bytes | None, count: int) -> tuple[Outcome, ...]:
    """The patch may have written anything: what is not a list of texts for each call is no answer."""
    try:
        told: Any = json.loads(answer or b"")
    except (ValueError, RecursionError):
        return ()
    if not isinstance(told, list) or len(told) != count or not all(map(_is_texts, told)):
        return ()
    return tuple(Outcome(tuple(map(without_addresses, values))) for values in told)


def _is_texts(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)
