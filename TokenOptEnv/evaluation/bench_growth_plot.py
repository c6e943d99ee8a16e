"""The growth bench as a picture: a panel an axis, a row an amount, dots for steps, a bar for the median."""

from __future__ import annotations

from TokenOptEnv.evaluation.bench_growth import GrowthBench
from TokenOptEnv.evaluation.spread_plot import Panel, spread_plot


def growth_plot(report: GrowthBench) -> str:
    panels = [
        Panel(
            f"processor time of a step, microseconds, by {axis.what}",
            {f"{point.amount:,}": point.sample_us for point in axis.points},
        )
        for axis in report.axes
    ]
    return spread_plot("How the time of a step grows", panels)
