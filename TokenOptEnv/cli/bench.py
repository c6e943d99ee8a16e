"""`camre bench`."""

from __future__ import annotations

from typing import Annotated

import typer

from TokenOptEnv.cli import bench_growth, bench_page, bench_peers, bench_sandbox, bench_server

app = typer.Typer(help="How fast it is.")
app.command("server")(bench_server.server)
app.command("growth")(bench_growth.growth)
app.command("peers")(bench_peers.peers)
app.command("sandbox")(bench_sandbox.sandbox)
app.command("page")(bench_page.page)


@app.callback()
def _group() -> None:
    """How fast it is."""


@app.command()
def engine(
    seconds: Annotated[float, typer.Option(help="How long to measure, after a warm-up.")] = 5.0,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Steps per second on the committed mix of actions, over every medium scenario."""
    from rich.table import Table

    from TokenOptEnv.cli import screen
    from TokenOptEnv.evaluation import bench_engine

    report = bench_engine.run(seconds)
    if as_json:
        screen.json(report)
        return
    table = Table("action", title=f"{len(report.scenarios)} medium scenarios", title_justify="left")
    table.add_column("steps", justify="right")
    table.add_column("p50 us", justify="right")
    for row in report.actions:
        table.add_row(row.action_type.value, f"{row.steps:,}", f"{row.p50_us:.1f}")
    table.add_row("(reset)", f"{report.episodes:,}", f"{report.reset_p50_us:.1f}")
    screen.show(
        table,
        f"{report.steps_per_s:,.0f} steps/s ({report.cpu_steps_per_s:,.0f} per second of processor time)",
        f"{report.steps:,} steps, {report.refused} refused",
        f"late steps take {report.late_to_early:.2f} x the time of early ones",
        report.machine.line(),
    )
