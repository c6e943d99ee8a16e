"""The server bench, in its shortest form: it really plays, on every server, and sees what is not its own."""

from __future__ import annotations

import asyncio

import pytest

from tests.server.live import CAPACITY, Address
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation import bench_server, bench_sessions
from TokenOptEnv.evaluation.bench_processes import BenchServer


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


def test_an_answer_that_is_another_sessions_stops_the_bench(server: Address) -> None:
    """The frames of one case are handed in as those of the other: every session then hears what is not its own."""
    wanted = bench_sessions.cases(2)
    heard = asyncio.run(bench_sessions.play_alone(server.port, wanted))
    swapped = {wanted[0]: heard[wanted[1]], wanted[1]: heard[wanted[0]]}
    here = BenchServer(server.port, server.pid)
    played = asyncio.run(bench_sessions.play_together(here, wanted, heard, sessions=4, steps=4))
    assert len(played.latencies) == 2 * sum(len(case.steps) for case in wanted)
    with pytest.raises(BadInput, match="got an answer that it would not have got alone"):
        asyncio.run(bench_sessions.play_together(here, wanted, swapped, sessions=4, steps=4))


def test_more_sessions_than_the_server_takes_is_one_line(small: Address) -> None:
    (case,) = bench_sessions.cases(1)
    here = BenchServer(small.port, small.pid)
    with pytest.raises(BadInput, match=r"CAPACITY_REACHED|the server closed a session: received 1013"):
        asyncio.run(bench_sessions.play_together(here, (case,), None, sessions=CAPACITY + 1, steps=1))


@pytest.mark.parametrize("sessions", [0, 5_000])
def test_a_number_of_sessions_that_makes_no_sense_is_one_line(sessions: int) -> None:
    with pytest.raises(BadInput, match=f"sessions must be from 1 to 4096, not {sessions}"):
        bench_server.run(rounds=1, steps=64, sessions=(sessions,))
