"""The server bench when something goes wrong in the middle: it ends within seconds, says why, and leaves nobody."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.server import light_app
from tests.server.live import wait_until
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation import bench_processes, bench_sessions, bench_watch
from TokenOptEnv.evaluation.bench_processes import BenchServer

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are watched in /proc")

_LIGHT = {"light": light_app.APPLICATION}
_FOR_EVER = 10**9
_SESSIONS = 4
_SECONDS = 20
"""Far more than it takes, on a busy machine too, and far less than the bench has patience."""


@contextmanager
def _within_seconds() -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < _SECONDS


def _group(leader: int) -> list[int]:
    """Processes of its group that still run."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == leader and fields[0] not in "ZX":
            found.append(int(status.parent.name))
    return found


def _play(server: BenchServer, wrong: Callable[[], None]) -> None:
    """Sessions that would never end; in the middle of them `wrong` happens."""
    wanted = bench_sessions.cases(1)
    heard = asyncio.run(bench_sessions.play_alone(server, wanted))
    happens = threading.Timer(0.5, wrong)
    happens.start()
    try:
        asyncio.run(bench_sessions.play_together(server, wanted, heard, _SESSIONS, _FOR_EVER))
    finally:
        happens.cancel()
        happens.join()


def test_a_server_that_is_killed_ends_the_bench_with_the_cause() -> None:
    with (
        pytest.raises(BadInput, match=r"server 'light' was ended by signal 9 while it was played; if memory ran short"),
        bench_processes.running(_LIGHT, _SESSIONS, workers=1) as servers,
        _within_seconds(),
    ):
        server = servers["light"]
        _play(server, lambda: os.kill(server.process_id, signal.SIGKILL))


def test_a_server_that_hangs_is_given_up_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_watch, "_DEAF_SECONDS", 1)
    monkeypatch.setattr(bench_processes, "_END_SECONDS", 0.5)
    leaders: list[int] = []
    with (
        pytest.raises(BadInput, match=r"server 'light' answered nothing for \d+ s after \d+ answers"),
        bench_processes.running(_LIGHT, _SESSIONS, workers=1) as servers,
        _within_seconds(),
    ):
        leaders.append(servers["light"].process_id)
        _play(servers["light"], lambda: os.kill(leaders[0], signal.SIGSTOP))
    assert _group(leaders[0]) == []


@pytest.mark.parametrize("whom", ["a worker", "their parent"])
def test_of_several_workers_none_is_left_behind(whom: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token of the user's own server is none of the bench's."""
    monkeypatch.setenv("CAMRE_TOKEN", "of-another-server")
    leaders: list[int] = []
    with (
        pytest.raises(BadInput, match=r"server 'light' (was ended by signal 9|ended) while it was played"),
        bench_processes.running(_LIGHT, _SESSIONS, workers=2) as servers,
        _within_seconds(),
    ):
        leader = servers["light"].process_id
        leaders.append(leader)
        assert len(_group(leader)) >= 3
        victim = max(_group(leader)) if whom == "a worker" else leader
        _play(servers["light"], lambda: os.kill(victim, signal.SIGKILL))
    wait_until(lambda: _group(leaders[0]) == [], seconds=5)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_server_that_cannot_start_is_one_line(workers: int) -> None:
    with (
        pytest.raises(BadInput, match=r"server 'broken' did not start; it said: .*no_such_module"),
        _within_seconds(),
        bench_processes.running({"broken": ("no_such_module:app",)}, 1, workers),
    ):
        pass


def test_a_port_where_nobody_listens_is_one_line() -> None:
    (case,) = bench_sessions.cases(1)
    nobody = BenchServer(port=9, process_id=os.getpid())
    with pytest.raises(BadInput, match="the server on port 9 let no session in"):
        asyncio.run(bench_sessions.play_together(nobody, (case,), None, _SESSIONS, 1))


@contextmanager
def _command(folder: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """`camre bench server`, and the leaders of its three servers; killed, it leaves their logs in `folder`."""
    with subprocess.Popen(
        [sys.executable, "-c", "from TokenOptEnv.cli.main import main; main()", "bench", "server"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
        preexec_fn=_heed_signals,
    ) as bench:
        wait_until(lambda: len(bench_processes._children(bench.pid)) == 3)
        leaders = bench_processes._children(bench.pid)
        wait_until(lambda: all(_is_uvicorn(leader) for leader in leaders))
        yield bench, leaders


def _heed_signals() -> None:
    """A shell's background job ignores one of them, what runs under nohup the other."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def _is_uvicorn(process: int) -> bool:
    return b"\0-m\0uvicorn\0" in Path(f"/proc/{process}/cmdline").read_bytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_command_takes_its_servers_with_it(number: signal.Signals, tmp_path: Path) -> None:
    with _command(tmp_path) as (bench, leaders):
        bench.send_signal(number)
        _, told = bench.communicate(timeout=_SECONDS)
    assert (bench.returncode, told) == (130, "camre: interrupted\n")
    assert [_group(leader) for leader in leaders] == [[], [], []]
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_is_killed_takes_its_servers_with_it_too(tmp_path: Path) -> None:
    with _command(tmp_path) as (bench, leaders):
        bench.kill()
    wait_until(lambda: not any(_group(leader) for leader in leaders), seconds=_SECONDS)
