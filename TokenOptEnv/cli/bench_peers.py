"""`camre bench peers`."""

from __future__ import annotations

from typing import Annotated

import typer


def peers(
    rounds: Annotated[int, typer.Option(min=1, help="Runs of each, in turn; figures are medians.")] = 3,
    seconds: Annotated[float, typer.Option(help="Processor time of each in each round.")] = 0.5,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Steps per second in this process, beside environments of others (extra `bench`)."""
    from rich.table import Table

    from TokenOptEnv.cli import screen
    from TokenOptEnv.evaluation import bench_peers

    report = bench_peers.run(rounds, seconds)
    if as_json:
        screen.json(report)
        return
    table = Table("environment", "played", title=f"{report.rounds} rounds, medians", title_justify="left")
    for name in ("step/s", "ours / its", "bytes a step"):
        table.add_column(name, justify="right")
    for each in report.peers:
        speed = (f"{each.steps_per_s:,.0f}", f"{each.ratio:.3g}")
        table.add_row(f"{each.name} {each.version}", each.played, *speed, f"{each.shown_bytes:,}")
    screen.show(table, "step/s of processor time", report.machine.line())
    for name in report.missing:
        screen.line(f"{name} is not installed here; install the peers: pip install 'openenv-TokenOptEnv[bench]'")
