"""`camre bench sandbox`."""

from __future__ import annotations

from typing import Annotated

import typer


def sandbox(
    seconds: Annotated[float, typer.Option(help="How long to measure, after a warm-up.")] = 5.0,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Verdicts per second on own patches; fails where this machine cannot wall them in."""
    from TokenOptEnv.cli import screen
    from TokenOptEnv.evaluation import bench_sandbox

    report = bench_sandbox.run(seconds)
    if as_json:
        screen.json(report)
    else:
        told = ", ".join(f"{count} {verdict}" for verdict, count in report.verdicts.items())
        screen.show(
            f"{report.verdicts_per_s:,.0f} verdicts/s ({report.cpu_verdicts_per_s:,.0f} per second of processor time)",
            f"{told}; {report.wrong} other than recorded",
            f"p50 {report.p50_ms:.1f} ms, p99 {report.p99_ms:.1f} ms; ready after {report.start_ms:,.0f} ms",
        )
    if report.wrong:
        raise typer.Exit(1)
