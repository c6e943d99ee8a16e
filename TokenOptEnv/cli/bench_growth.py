"""`camre bench growth`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def growth(
    repeats: Annotated[int, typer.Option(help="How often each amount is played.")] = 3,
    plot: Annotated[Path | None, typer.Option(help="Draw the times into this SVG file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """How a step's time and an observation's size grow with steps played, artifacts, tokens and episodes."""
    from rich.table import Table

    from TokenOptEnv.cli import screen
    from TokenOptEnv.evaluation import bench_growth
    from TokenOptEnv.evaluation.bench_growth_plot import growth_plot

    report = bench_growth.run(repeats, lambda line: typer.echo(line, err=True))
    if plot is not None:
        plot.parent.mkdir(parents=True, exist_ok=True)
        plot.write_text(growth_plot(report), encoding="utf-8", newline="\n")
    if as_json:
        screen.json(report)
        return
    for axis in report.axes:
        table = Table(axis.name, title=axis.what, title_justify="left")
        for name in ("steps", "p50 us", "p99 us", "bytes", "slowest ms", "collector ms", "first ms"):
            table.add_column(name, justify="right")
        for point in axis.points:
            times = (f"{point.p50_us:.0f}", f"{point.p99_us:.0f}")
            slow = (f"{each / 1_000:.1f}" for each in (point.slowest_us, point.slowest_collecting_us))
            first = "" if point.first_us is None else f"{point.first_us / 1_000:.1f}"
            table.add_row(f"{point.amount:,}", f"{point.steps:,}", *times, f"{point.observation_bytes:,}", *slow, first)
        steepest = axis.actions[0]
        screen.show(
            table,
            f"exponents: time {axis.time_exponent:+.2f}, bytes {axis.bytes_exponent:+.2f};"
            f" steepest {steepest.action_type.value} {steepest.exponent:+.2f}",
        )
    screen.show("processor time; an exponent of 0 is flat, 1 is proportional", report.machine.line())
