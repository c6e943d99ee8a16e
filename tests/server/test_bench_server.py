"""The server bench, in its shortest form: it really plays, on every server, and sees what is not its own."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from tests.server import light_app
from tests.server.live import CAPACITY, Address
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation import bench_processes, bench_server, bench_sessions
from TokenOptEnv.evaluation.bench_processes import BenchServer
from TokenOptEnv.evaluation.bench_sessions import BenchCase, Heard

needs_proc = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are watched in /proc")


@pytest.fixture
def here(server: Address) -> BenchServer:
    return BenchServer(server.port, server.pid)


def _alone(here: BenchServer, *wanted: BenchCase) -> Heard:
    return asyncio.run(bench_sessions.play_alone(here, wanted))


def _workers(server: BenchServer) -> list[int]:
    found = [each for each in server._processes() if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes()]
    assert len(found) == 2
    return found


def _descriptors(process: int) -> int:
    return sum(1 for _ in Path(f"/proc/{process}/fd").iterdir())


def test_every_server_is_measured_and_the_ratios_are_of_their_speeds() -> None:
    told: list[str] = []
    report = bench_server.run(rounds=1, steps=64, sessions=(1, 4), scenarios=3, tell=told.append)
    assert [row.sessions for row in report.comparisons] == [1, 4]
    assert len(told) == 6
    assert report.scenarios == 3
    assert report.answers_compared >= 2 * 64
    assert report.refusal == "CAPACITY_REACHED: all 4 sessions are taken; try again when one has closed"
    for row in report.comparisons:
        for speed in (row.env, row.echo, row.openenv_echo):
            assert speed.steps_per_second > 0
            assert 0 < speed.p50_ms <= speed.p99_ms
            assert speed.resident_mb is None or 50 < speed.resident_mb < 1_500
        for ratio, echo in ((row.ratio_to_echo, row.echo), (row.ratio_to_openenv_echo, row.openenv_echo)):
            assert abs(ratio - row.env.steps_per_second / echo.steps_per_second) < 0.01


def test_several_workers_are_measured_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_server, "_APPS", dict.fromkeys(bench_server._APPS, light_app.APPLICATION))
    told: list[str] = []
    report = bench_server.run(rounds=2, steps=32, sessions=(1, 2), workers=2, tell=told.append)
    assert (report.workers, report.refusal, len(told)) == (2, None, 2 * 2 * 3)
    assert report.answers_compared >= 2 * 2 * 32
    assert [row.sessions for row in report.comparisons] == [1, 2]


@needs_proc
def test_sessions_are_spread_over_the_workers() -> None:
    """Knocking all at once, they would be let in by the first worker that wakes, and only that one measured.

    A machine that is busy may leave a worker no time to wake in; three times in a row it does not.
    """
    with bench_processes.running({"light": light_app.APPLICATION}, capacity=24, workers=2) as servers:
        tried = [asyncio.run(_held_by_workers(servers["light"])) for _ in range(3)]
    assert all(sum(held) == 24 for held in tried)
    assert max(min(held) for held in tried) >= 4


async def _held_by_workers(server: BenchServer) -> list[int]:
    """The sessions of a run last until the last has played: in the middle all of them are connected."""
    workers = _workers(server)
    before = [_descriptors(worker) for worker in workers]
    playing = asyncio.create_task(
        bench_sessions.play_together(server, bench_sessions.cases(1), None, sessions=24, steps=9_600)
    )
    held: list[int] = []
    while sum(held) < 24 and not playing.done():
        await asyncio.sleep(0.02)
        held = [_descriptors(worker) - idle for worker, idle in zip(workers, before, strict=True)]
    await playing
    return held


@needs_proc
def test_an_episode_is_the_same_whichever_worker_plays_it() -> None:
    """The system hands connections to workers as it likes; while one is stopped, the other has them all."""
    wanted = bench_sessions.cases(1)
    with bench_processes.running({"env": bench_server._APPS["env"]}, capacity=4, workers=2) as servers:
        server = servers["env"]
        workers = _workers(server)
        heard = _alone(server, *wanted)
        for stopped, playing in (workers, reversed(workers)):
            before_ns = BenchServer(server.port, playing).cpu_ns() or 0
            os.kill(stopped, signal.SIGSTOP)
            try:
                played = asyncio.run(bench_sessions.play_together(server, wanted, heard, sessions=4, steps=4))
            finally:
                os.kill(stopped, signal.SIGCONT)
            assert len(played.latencies) == 4 * len(wanted[0].steps)
            assert (BenchServer(server.port, playing).cpu_ns() or 0) > before_ns
            assert played.resident_mb is not None and played.resident_mb > 300


def test_an_answer_that_is_another_sessions_stops_the_bench(here: BenchServer) -> None:
    """The frames of one case are handed in as those of the other: every session then hears what is not its own."""
    wanted = bench_sessions.cases(2)
    heard = _alone(here, *wanted)
    swapped = {wanted[0]: heard[wanted[1]], wanted[1]: heard[wanted[0]]}
    played = asyncio.run(bench_sessions.play_together(here, wanted, heard, sessions=4, steps=4))
    assert len(played.latencies) == 2 * sum(len(case.steps) for case in wanted)
    with pytest.raises(BadInput, match="got an answer that it would not have got alone"):
        asyncio.run(bench_sessions.play_together(here, wanted, swapped, sessions=4, steps=4))


def test_the_name_of_a_session_is_part_of_what_is_compared(here: BenchServer) -> None:
    """Two sessions of one case play the same; an answer under the other's name is still not one's own."""
    (case,) = bench_sessions.cases(1)
    heard = _alone(here, case)
    assert all(b'"episode_id":"session-alone"' in frame for frame in heard[case])
    stolen = {case: tuple(frame.replace(b"session-alone", b"session-00001") for frame in heard[case])}
    with pytest.raises(BadInput, match="session-00000 got an answer"):
        asyncio.run(bench_sessions.play_together(here, (case,), stolen, sessions=2, steps=2))


@pytest.mark.parametrize("place", [0, 1, -1])
def test_one_byte_in_one_answer_is_enough_to_stop_the_bench(place: int, here: BenchServer) -> None:
    """Of a reset, of a step and of the end; all other answers are as they were."""
    (case,) = bench_sessions.cases(1)
    frames = list(_alone(here, case)[case])
    at = frames[place].index(b'"reward"') + 1
    frames[place] = frames[place][:at] + b"R" + frames[place][at + 1 :]
    number = place % len(frames)
    with pytest.raises(BadInput, match=f"not have got alone, to frame {number} of '{case.scenario_id}'"):
        asyncio.run(bench_sessions.play_together(here, (case,), {case: tuple(frames)}, sessions=2, steps=2))


def test_more_sessions_than_the_server_takes_is_one_line(small: Address) -> None:
    (case,) = bench_sessions.cases(1)
    here = BenchServer(small.port, small.pid)
    with pytest.raises(BadInput, match=r"CAPACITY_REACHED|the server closed a session: received 1013"):
        asyncio.run(bench_sessions.play_together(here, (case,), None, sessions=CAPACITY + 1, steps=1))


@pytest.mark.parametrize("sessions", [0, 5_000])
def test_a_number_of_sessions_that_makes_no_sense_is_one_line(sessions: int) -> None:
    with pytest.raises(BadInput, match=f"sessions must be from 1 to 4096, not {sessions}"):
        bench_server.run(rounds=1, steps=64, sessions=(sessions,))
