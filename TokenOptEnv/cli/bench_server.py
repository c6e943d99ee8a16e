"""`camre bench server`."""

from __future__ import annotations

from typing import Annotated

import typer


def server(
    rounds: Annotated[int, typer.Option(min=1, help="Runs of each server, in turn; figures are medians.")] = 7,
    steps: Annotated[int, typer.Option(min=32, help="Steps counted in each run.")] = 1_000,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Steps per second over the WebSocket, beside an echo environment that returns the same observations."""
    from rich.table import Table

    from TokenOptEnv.cli import screen
    from TokenOptEnv.evaluation import bench_server

    report = bench_server.run(rounds, steps, tell=lambda line: typer.echo(line, err=True))
    if as_json:
        screen.json(report)
        return
    table = Table("server", title=f"{report.rounds} rounds of {report.steps} steps, medians", title_justify="left")
    for name in ("sessions", "step/s", "p50 ms", "p99 ms", "cpu us", "ratio", "of cpu"):
        table.add_column(name, justify="right")
    for row in report.comparisons:
        for name, speed, ratio, cpu_ratio in (
            ("TokenOptEnv", row.env, None, None),
            ("echo, here", row.echo, row.ratio_to_echo, row.cpu_ratio_to_echo),
            ("echo, OpenEnv", row.openenv_echo, row.ratio_to_openenv_echo, row.cpu_ratio_to_openenv_echo),
        ):
            figures = (f"{speed.steps_per_second:,.0f}", f"{speed.p50_ms:.2f}", f"{speed.p99_ms:.2f}")
            cpu = "" if speed.cpu_us is None else f"{speed.cpu_us:,.0f}"
            ratios = ("" if each is None else f"{each:.2f}" for each in (ratio, cpu_ratio))
            table.add_row(name, str(row.sessions), *figures, cpu, *ratios)
    screen.show(table)
