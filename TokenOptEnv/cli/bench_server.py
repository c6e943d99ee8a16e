"""`camre bench server`."""

from __future__ import annotations

from typing import Annotated

import typer


def server(
    rounds: Annotated[int, typer.Option(min=1, help="Runs of each server, in turn; figures are medians.")] = 7,
    steps: Annotated[int, typer.Option(min=32, help="Steps counted in each run.")] = 1_000,
    sessions: Annotated[
        list[int] | None, typer.Option(help="Sessions at a time; give it several times.", show_default="1 and 32")
    ] = None,
    scenarios: Annotated[int, typer.Option(min=1, max=256, help="Scenarios that the sessions take turns at.")] = 1,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes of each server.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Steps per second over the WebSocket, beside an echo environment that returns the same observations."""
    from rich.table import Table

    from TokenOptEnv.cli import screen
    from TokenOptEnv.evaluation import bench_server

    report = bench_server.run(
        rounds, steps, sessions or bench_server.SESSIONS, scenarios, workers, lambda line: typer.echo(line, err=True)
    )
    if as_json:
        screen.json(report)
        return
    title = f"{report.rounds} rounds of {report.steps} steps, medians; {report.scenarios} scenarios"
    table = Table("server", title=title, title_justify="left")
    for name in ("sessions", "step/s", "p50 ms", "p99 ms", "cpu us", "MB", "ratio", "of cpu"):
        table.add_column(name, justify="right")
    for row in report.comparisons:
        for name, speed, ratio, cpu_ratio in (
            ("TokenOptEnv", row.env, None, None),
            ("echo, here", row.echo, row.ratio_to_echo, row.cpu_ratio_to_echo),
            ("echo, OpenEnv", row.openenv_echo, row.ratio_to_openenv_echo, row.cpu_ratio_to_openenv_echo),
        ):
            figures = (f"{speed.steps_per_second:,.0f}", f"{speed.p50_ms:.2f}", f"{speed.p99_ms:.2f}")
            weights = ("" if each is None else f"{each:,.0f}" for each in (speed.cpu_us, speed.resident_mb))
            ratios = ("" if each is None else f"{each:.2f}" for each in (ratio, cpu_ratio))
            table.add_row(name, f"{row.sessions:,}", *figures, *weights, *ratios)
    screen.show(
        table,
        report.machine.line(),
        f"{report.answers_compared:,} answers were those of the same episode played alone",
        "" if report.refusal is None else f"one session too many: {report.refusal}",
    )
