"""The line to a zygote: its process and four pipes, of which one carries what nobody may trust.

requests    out    read by the patch, before it is one
control     out    start, stop
reports     in     from the zygote: how the patch ended
answers     in     from the patch: anything at all, read up to a bound

The zygote is believed, a patch is not.
"""

from __future__ import annotations

import fcntl
import os
import platform
import select
import subprocess
import time
from contextlib import suppress
from typing import Final, NamedTuple

from TokenOptEnv.errors import SandboxUnavailable
from TokenOptEnv.sandbox.frames import HEADER, FrameCut, FrameLate, framed, read_frame, write_all
from TokenOptEnv.sandbox.limits import SandboxLimits
from TokenOptEnv.sandbox.syscalls import filter_program
from TokenOptEnv.sandbox.walls import wall
from TokenOptEnv.sandbox.zygote import BEGUN, READY, START, STOP, Orders, Report

_START_S: Final = 20.0
_GRACE_S: Final = 10.0
"""How much longer than a patch's own time the report about it may take."""
_REPORT_BYTES: Final = 1_024
_CHUNK_BYTES: Final = 65_536
_PIPE_BYTES: Final = 1_048_576
"""So that a request is written at once."""


class Said(NamedTuple):
    answer: bytes | None
    """None unless a whole frame came."""
    too_long: bool
    in_time: bool
    cpu_s: float


class Line:
    def __init__(self, limits: SandboxLimits) -> None:
        self._limits = limits
        self._is_closed = False
        outer = wall()
        program = filter_program(platform.machine())
        control, self._control = os.pipe()
        self._answers, answers = os.pipe()
        try:
            self._zygote = subprocess.Popen(
                outer.command,
                env={},  # what the wall itself was started with could be read by whoever is inside
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=(control, answers),
            )
        except OSError as fault:
            os.close(self._control)
            os.close(self._answers)
            raise SandboxUnavailable(f"bwrap cannot be started: {fault.strerror}") from None
        finally:
            os.close(control)
            os.close(answers)
        assert self._zygote.stdin is not None and self._zygote.stdout is not None
        self._requests, self._reports = self._zygote.stdin.fileno(), self._zygote.stdout.fileno()
        os.set_blocking(self._requests, False)
        os.set_blocking(self._answers, False)
        with suppress(PermissionError):
            fcntl.fcntl(self._requests, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        orders = Orders(control, answers, outer.user, outer.changes_user, program, limits)
        ends_at = time.monotonic() + _START_S
        try:
            write_all(self._requests, framed(orders.encoded()), ends_at)
            if read_frame(self._reports, len(READY), ends_at) != READY:
                raise FrameCut
        except (FrameCut, FrameLate):
            raise self.failed() from None

    def ask(self, request: bytes) -> Said:
        """One patch from its start to its end. When this returns, no process of it is left."""
        ends_at = time.monotonic() + self._limits.wall_s + _GRACE_S
        try:
            write_all(self._control, START)
            write_all(self._requests, framed(request), ends_at)
            return self._heard(ends_at)
        except (FrameCut, FrameLate):
            raise self.failed() from None

    def _heard(self, ends_at: float) -> Said:
        poll = select.poll()
        poll.register(self._answers, select.POLLIN)
        poll.register(self._reports, select.POLLIN)
        heard = bytearray()
        is_begun = is_stopped = False
        report: Report | None = None
        while report is None:
            ready = {descriptor for descriptor, _ in poll.poll((ends_at - time.monotonic()) * 1_000)}
            if not ready:
                raise FrameLate
            if self._answers in ready:
                self._take(heard)
            if len(heard) > self._limits.answer_bytes and not is_stopped:
                write_all(self._control, STOP)
                is_stopped = True
            if self._reports in ready:
                told = read_frame(self._reports, _REPORT_BYTES, ends_at)
                is_begun, report = (True, None) if told == BEGUN else (is_begun, Report.decoded(told))
        if not is_begun:
            raise FrameCut
        while self._take(heard):
            pass
        too_long = len(heard) > self._limits.answer_bytes
        return Said(None if too_long else _whole(heard), too_long, report.in_time, report.cpu_s)

    def _take(self, heard: bytearray) -> bool:
        """What lies in the pipe. Past the bound it is thrown away: all that counts then is that there was more."""
        try:
            piece = os.read(self._answers, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        if len(heard) <= self._limits.answer_bytes:
            heard += piece
        return bool(piece)

    def failed(self, cause: str | None = None) -> SandboxUnavailable:
        """Closes the line and says why, in the words of whoever failed where there are any."""
        self._zygote.kill()
        assert self._zygote.stderr is not None
        told = self._zygote.stderr.read().decode(errors="replace").strip().splitlines()
        self.close()
        said = f"bwrap or what it holds failed: {told[-1][:200]}" if told else "what bwrap holds ended without a word"
        return SandboxUnavailable(said if cause is None else f"{cause} ({told[-1][:200]})" if told else cause)

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._zygote.kill()
        for pipe in (self._zygote.stdin, self._zygote.stdout, self._zygote.stderr):
            assert pipe is not None
            pipe.close()
        for descriptor in (self._control, self._answers):
            os.close(descriptor)
        self._zygote.wait()


def _whole(heard: bytearray) -> bytes | None:
    """The answer, where all of it and nothing else was written."""
    if len(heard) < HEADER.size:
        return None
    (length,) = HEADER.unpack_from(heard)
    return bytes(heard[HEADER.size :]) if len(heard) == HEADER.size + length else None
