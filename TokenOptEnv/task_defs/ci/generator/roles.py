"""The commits that somebody will suspect, and which of them a plot makes guilty."""

from __future__ import annotations

from enum import StrEnum

from TokenOptEnv.task_defs.ci.generator.plot import Plot


class Role(StrEnum):
    REWRITE = "rewrite"
    SAMPLE = "sample"
    BUMP = "bump"
    PIPELINE = "pipeline"
    WITHDRAWN = "withdrawn"
    """A rewrite that a later commit takes back."""


_GUILTY = {
    Plot.REGRESSION: Role.REWRITE,
    Plot.WOBBLE: Role.SAMPLE,
    Plot.LIBRARY: Role.BUMP,
    Plot.SELECTION: Role.PIPELINE,
    Plot.OPTION: Role.PIPELINE,
    Plot.MENDED: Role.WITHDRAWN,
}


def hot_role(plot: Plot) -> Role | None:
    return _GUILTY.get(plot)
