"""`camre stability`: would other scenarios have ranked the policies alike?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def stability(
    runs: Annotated[list[Path], typer.Argument(help="Folders that camre eval --out wrote.")],
    halvings: Annotated[int, typer.Option(min=1, help="So many times the scenarios are cut in two.")] = 200,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Rank the contestants on random halves of the scenarios, and compare the rankings."""
    from TokenOptEnv.cli import screen
    from TokenOptEnv.evaluation import leaderboard, stability
    from TokenOptEnv.evaluation.run_folder import load_run

    board, results = leaderboard.board_of([load_run(folder) for folder in dict.fromkeys(runs)])
    contestants = [result for result in results if result.policy not in board.truth_knowers]
    found = stability.stability(contestants, halvings)
    if as_json:
        screen.json(found)
        return
    screen.show(
        f"{found.policies} contestants on {found.scenarios} scenarios:"
        f" {found.sure_pairs} of {found.pairs} pairs are set apart (p under {stability.SURE:g})",
        f"over {found.halvings} random halvings, Kendall's tau of one half with the other, of those pairs:"
        f" median {found.median_tau:.3f}, least {found.least_tau:.3f}",
        f"Spearman's rank correlation of mean return with SCE: {found.return_rank_correlation:.3f}",
    )
