"""The servers of the bench: each a real uvicorn on a free port of loopback, with its workers if it has several."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from TokenOptEnv.errors import BadInput

_ADDRESS: Final = re.compile(r"running on http://[\d.]+:(\d+)")
_RESIDENT: Final = re.compile(r"^VmRSS:\s+(\d+) kB", re.MULTILINE)
_USER_TICKS: Final = 11
_SYSTEM_TICKS: Final = 12
"""Fields of a process's status behind its name."""
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
def running(applications: Mapping[str, str], capacity: int, workers: int) -> Iterator[dict[str, BenchServer]]:
    """By name. All start at once, and all end with this."""
    processes = {name: _started(application, capacity, workers) for name, application in applications.items()}
    try:
        yield {
            name: BenchServer(_port(process, applications[name]), process.pid) for name, process in processes.items()
        }
    finally:
        for process in processes.values():
            process.terminate()
        for process in processes.values():
            _ended(process)


def _started(application: str, capacity: int, workers: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "uvicorn", application, "--host", "127.0.0.1", "--port", "0"]
    command += ["--workers", str(workers), "--ws-per-message-deflate", "false", "--no-access-log"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "CAMRE_CAPACITY": str(capacity)}
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)


def _ended(process: subprocess.Popen[str]) -> None:
    try:
        process.wait(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _port(process: subprocess.Popen[str], application: str) -> int:
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if found := _ADDRESS.search(line):
            # Uvicorn tells of every connection; left unread, a thousand would fill the pipe and stop the server.
            threading.Thread(target=deque[str](maxlen=0).extend, args=(process.stderr,), daemon=True).start()
            return int(found[1])
    raise BadInput(f"{application} did not start: {''.join(said[-3:]).strip()[:300]}")
