"""The servers of the bench: each a real uvicorn on a free port of loopback, with its workers if it has several."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from TokenOptEnv.errors import BadInput

_ADDRESS: Final = re.compile(r"running on http://[\d.]+:(\d+)")
_READY: Final = "Application startup complete"
_RESIDENT: Final = re.compile(r"^VmRSS:\s+(\d+) kB", re.MULTILINE)
_USER_TICKS: Final = 11
_SYSTEM_TICKS: Final = 12
"""Fields of a process's status behind its name."""
_START_SECONDS: Final = 180
_LOOK_SECONDS: Final = 0.1
_END_SECONDS: Final = 10


@dataclass(frozen=True, slots=True)
class BenchServer:
    port: int
    process_id: int

    def cpu_ns(self) -> int | None:
        """What its processes have taken so far, threads that have ended included; in steps of a hundredth second."""
        try:
            told = [Path(f"/proc/{process}/stat").read_text(encoding="utf-8") for process in self._processes()]
        except OSError:
            return None
        taken = [status.rpartition(")")[2].split() for status in told]
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
        """Itself and those it started, however deep. Workers are started by the first thread."""
        found = [self.process_id]
        for process in found:
            children = Path(f"/proc/{process}/task/{process}/children")
            found += [int(child) for child in children.read_text(encoding="utf-8").split()]
        return found


@contextmanager
def running(applications: Mapping[str, Sequence[str]], capacity: int, workers: int) -> Iterator[dict[str, BenchServer]]:
    """By name: what uvicorn is to serve, and its options. All start at once, and all end with this."""
    with TemporaryDirectory() as folder, ExitStack() as ending:
        processes = {}
        for name, application in applications.items():
            processes[name] = _started(application, capacity, workers, Path(folder) / name)
            ending.callback(_end, processes[name])
        ports = {name: _port(process, Path(folder) / name, workers) for name, process in processes.items()}
        yield {name: BenchServer(ports[name], process.pid) for name, process in processes.items()}


def _started(application: Sequence[str], capacity: int, workers: int, log: Path) -> subprocess.Popen[bytes]:
    """It writes to a file: uvicorn tells of every connection, and a pipe that nobody empties would stop it."""
    command = [sys.executable, "-m", "uvicorn", *application, "--host", "127.0.0.1", "--port", "0"]
    command += ["--workers", str(workers), "--ws-per-message-deflate", "false", "--no-access-log"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "CAMRE_CAPACITY": str(capacity)}
    with log.open("wb") as told:
        return subprocess.Popen(command, stdout=told, stderr=told, env=environment)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _port(process: subprocess.Popen[bytes], log: Path, workers: int) -> int:
    """Once every worker has loaded: before that the address is bound and nobody listens."""
    ends_at = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < ends_at:
        told = log.read_text(encoding="utf-8", errors="replace")
        found = _ADDRESS.search(told)
        if found is not None and told.count(_READY) >= workers:
            return int(found[1])
        time.sleep(_LOOK_SECONDS)
    last = " ".join(log.read_text(encoding="utf-8", errors="replace").split())[-300:]
    raise BadInput(f"the server {log.name} of the bench did not start: {last}")
