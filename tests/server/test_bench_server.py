"""The server bench, in its shortest form: it really plays, on both servers."""

from __future__ import annotations

from TokenOptEnv.evaluation import bench_server


def test_both_servers_are_measured_and_the_ratio_is_of_their_speeds() -> None:
    told: list[str] = []
    report = bench_server.run(rounds=1, steps=64, sessions=(1, 4), tell=told.append)
    assert [row.sessions for row in report.comparisons] == [1, 4]
    assert len(told) == 4
    for row in report.comparisons:
        for speed in (row.env, row.echo):
            assert speed.steps_per_second > 0
            assert 0 < speed.p50_ms <= speed.p99_ms
        assert abs(row.ratio - row.env.steps_per_second / row.echo.steps_per_second) < 0.01
