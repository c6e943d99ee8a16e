"""The servers of the bench: each a real uvicorn on a free port of loopback, with its workers if it has several.

Each leads a group of processes of its own, which ends as a whole, however the bench ends: a server that was killed
leaves its workers to nobody, and one that hangs does not listen to a polite signal.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Final

from TokenOptEnv.errors import BadInput

_LAUNCH: Final = """
import ctypes, os, signal, sys
SET_PARENT_DEATH_SIGNAL = 1
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
os.execv(sys.executable, [sys.executable, "-m", "uvicorn", *sys.argv[1:]])
"""
"""Asks the kernel for a signal when the bench is gone: killed, it can end nobody any more."""
_ADDRESS: Final = re.compile(r"running on http://[\d.]+:(\d+)")
_READY: Final = "Application startup complete"
_WORKER_DIED: Final = re.compile(r"Child process \[\d+\] died")
_RESIDENT: Final = re.compile(r"^VmRSS:\s+(\d+) kB", re.MULTILINE)
_STATE: Final = 0
_USER_TICKS: Final = 11
_SYSTEM_TICKS: Final = 12
"""Fields of a process's status behind its name."""
_ENDED: Final = ("Z", "X")
"""States of a process that has ended and that its parent has not looked after yet."""
_START_SECONDS: Final = 180
_LOOK_SECONDS: Final = 0.1
_END_SECONDS: Final = 5
_WORDS: Final = 300
"""How much is shown of what a server said last."""
_LESS: Final = "if memory ran short, ask for fewer --sessions or --workers"
_ASKED_TO_END: Final = (signal.SIGTERM, signal.SIGHUP)
_SETTING: Final = re.compile("CAMRE_(?!CACHE_DIR$|SCENARIOS_DIR$)|ENABLE_WEB_INTERFACE$")
"""How a server of the user's would serve: a token or a pace of theirs would be measured, or shut the bench out."""


@dataclass(frozen=True, slots=True)
class BenchServer:
    port: int
    process_id: int
    name: str = "server"
    check: Callable[[], None] = lambda: None
    """Raises where a server of this bench, this one or one of those beside it, no longer runs as it was started."""

    def cpu_ns(self) -> int | None:
        """What its processes have taken so far, threads that have ended included; in steps of a hundredth second."""
        try:
            taken = [_status(process) for process in self._processes()]
        except OSError:
            return None
        ticks = sum(int(fields[_USER_TICKS]) + int(fields[_SYSTEM_TICKS]) for fields in taken)
        return ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")

    def resident_mb(self) -> float | None:
        """Of all its processes; what workers share is counted in each."""
        try:
            told = [Path(f"/proc/{process}/status").read_text(encoding="utf-8") for process in self._processes()]
        except OSError:
            return None
        found = [_RESIDENT.search(status) for status in told]
        return round(sum(int(each[1]) for each in found if each is not None) / 1_024, 1)

    def _processes(self) -> list[int]:
        """Itself and those it started, however deep."""
        found = [self.process_id]
        for process in found:
            found += _children(process)
        return found


@contextmanager
def running(applications: Mapping[str, Sequence[str]], capacity: int, workers: int) -> Iterator[dict[str, BenchServer]]:
    """By name: what uvicorn is to serve, and its options. All start at once, and all end with this."""
    started: list[_Started] = []

    def check() -> None:
        for each in started:
            each.check()

    with TemporaryDirectory() as folder, _interrupted_by(_ASKED_TO_END):
        try:
            for name, application in applications.items():
                started.append(_Started(name, application, capacity, workers, Path(folder) / name))
            ports = [each.port() for each in started]
            yield {
                each.name: BenchServer(port, each.process.pid, each.name, check)
                for each, port in zip(started, ports, strict=True)
            }
        finally:
            _end([each.process for each in started])


class _Started:
    """It writes to a file: uvicorn tells of every connection, and a pipe that nobody empties would stop it."""

    def __init__(self, name: str, application: Sequence[str], capacity: int, workers: int, log: Path) -> None:
        self.name = name
        self._workers = workers
        self._log = log
        self._family: frozenset[int] = frozenset()
        command = [sys.executable, "-c", _LAUNCH, *application, "--host", "127.0.0.1", "--port", "0"]
        command += ["--workers", str(workers), "--ws-per-message-deflate", "false", "--no-access-log"]
        kept = {name: value for name, value in os.environ.items() if not _SETTING.match(name)}
        environment = {**kept, "PYTHONUNBUFFERED": "1", "CAMRE_CAPACITY": str(capacity)}
        with log.open("wb") as told:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=told, stderr=told, env=environment, start_new_session=True
            )

    def port(self) -> int:
        """Once every worker has loaded: before that the address is bound and nobody listens."""
        ends_at = time.monotonic() + _START_SECONDS
        while self.process.poll() is None and time.monotonic() < ends_at:
            told = self._told()
            if _WORKER_DIED.search(told):  # another is started in its place, for ever
                break
            found = _ADDRESS.search(told)
            if found is not None and told.count(_READY) >= self._workers:
                self._family = frozenset(self._living())
                return int(found[1])
            time.sleep(_LOOK_SECONDS)
        raise BadInput(f"the bench's server {self.name!r} did not start; it said: {self._last_words()}")

    def check(self) -> None:
        code = self.process.poll()
        if code is not None:
            raise BadInput(f"the bench's server {self.name!r} {_how(code)} while it was played; {self._remedy(code)}")
        if not self._family <= frozenset(self._living()):
            raise BadInput(f"a worker of the bench's server {self.name!r} ended while it was played; {_LESS}")

    def _living(self) -> list[int]:
        with suppress(OSError):
            return _children(self.process.pid)
        return []

    def _told(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    def _last_words(self) -> str:
        return " ".join(self._told().split())[-_WORDS:] or "nothing"

    def _remedy(self, code: int) -> str:
        return _LESS if code == -signal.SIGKILL else f"it said: {self._last_words()}"


def _children(process: int) -> list[int]:
    """Workers are started by the first thread; those that have ended are listed until their parent looks."""
    told = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8")
    return [int(child) for child in told.split() if not _has_ended(int(child))]


def _has_ended(process: int) -> bool:
    try:
        return _status(process)[_STATE] in _ENDED
    except OSError:
        return True


def _status(process: int) -> list[str]:
    """Its fields behind the name, which may hold anything."""
    return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()


def _how(code: int) -> str:
    return f"ended with code {code}" if code >= 0 else f"was ended by signal {-code}"


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Politely, all at the same time; then whatever is left of their groups, also when nobody waits for the rest."""
    try:
        for process in processes:
            _signal_group(process, signal.SIGTERM)
        ends_at = time.monotonic() + _END_SECONDS
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=max(0.0, ends_at - time.monotonic()))
    finally:
        for process in processes:
            _signal_group(process, signal.SIGKILL)
        for process in processes:
            process.wait()


def _signal_group(leader: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader.pid, number)


@contextmanager
def _interrupted_by(numbers: Sequence[signal.Signals]) -> Iterator[None]:
    """These signals end the bench as Ctrl-C does. Left alone they would end it at once, and its servers never."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    wanted = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in wanted:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number in wanted:
            signal.signal(number, signal.SIG_DFL)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Whoever handles Ctrl-C now, the running loop as a rule; a job in a shell's background has nobody who does."""
    handler = signal.getsignal(signal.SIGINT)
    handled = handler if callable(handler) else signal.default_int_handler
    handled(signal.SIGINT, frame)
