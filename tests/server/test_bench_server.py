"""The server bench, in its shortest form: it really plays, on every server."""

from __future__ import annotations

from TokenOptEnv.evaluation import bench_server


def test_every_server_is_measured_and_the_ratios_are_of_their_speeds() -> None:
    told: list[str] = []
    report = bench_server.run(rounds=1, steps=64, sessions=(1, 4), tell=told.append)
    assert [row.sessions for row in report.comparisons] == [1, 4]
    assert len(told) == 6
    for row in report.comparisons:
        for speed in (row.env, row.echo, row.openenv_echo):
            assert speed.steps_per_second > 0
            assert 0 < speed.p50_ms <= speed.p99_ms
        for ratio, echo in ((row.ratio_to_echo, row.echo), (row.ratio_to_openenv_echo, row.openenv_echo)):
            assert abs(ratio - row.env.steps_per_second / echo.steps_per_second) < 0.01
