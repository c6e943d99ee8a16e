"""The table that an evaluation ends with: best SCE first."""

from __future__ import annotations

from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.table import Table

from TokenOptEnv import policies
from TokenOptEnv.evaluation.metrics import Summary

TRUTH_MARK = "*"
TRUTH_NOTE = f"{TRUTH_MARK} knows the hidden truth: a yardstick, not a contestant"


def ranked(summaries: Iterable[Summary]) -> tuple[Summary, ...]:
    """By SCE, then return: the second tells apart those that solve nothing."""
    return tuple(sorted(summaries, key=lambda each: (-each.mean_sce, -each.mean_return, each.policy)))


def table(summaries: Iterable[Summary], title: str) -> Table:
    """Within 80 columns, which is why it has no frame."""
    made = Table(title=title, title_justify="left", box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    made.add_column("policy", no_wrap=True)
    for head in ("SCE", "solved", "return", "$/task", "$/solved", "regret", "refused"):
        made.add_column(head, justify="right", no_wrap=True)
    for each in ranked(summaries):
        mark = TRUTH_MARK if policies.info(each.policy).knows_truth else ""
        made.add_row(
            each.policy + mark,
            f"{each.mean_sce:.3f}",
            f"{each.solved}/{each.episodes}",
            f"{each.mean_return:.3f}",
            _usd(each.mean_usd),
            _usd(each.usd_per_solved),
            _usd(each.regret_usd),
            f"{each.refused_share:.0%}",
        )
    return made


def _usd(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
