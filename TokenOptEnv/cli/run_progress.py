"""How far a run has come: episodes, money spent and time left, where somebody watches; elsewhere it stays silent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from TokenOptEnv.evaluation.episodes import EpisodeResult

_NANO = 1_000_000_000


def watched(results: Iterable[EpisodeResult], total: int) -> Iterator[EpisodeResult]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("${task.fields[usd]:.4f}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as shown:
        task = shown.add_task("Playing", total=total, usd=0.0)
        spent_nano_usd = 0
        for result in results:
            spent_nano_usd += result.cost_nano_usd
            shown.update(task, advance=1, usd=spent_nano_usd / _NANO)
            yield result
