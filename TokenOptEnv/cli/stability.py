"""`camre stability`: would other scenarios have ranked the policies alike?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def stability(
    runs: Annotated[list[Path], typer.Argument(help="Folders that camre eval --out wrote.")],
    halvings: Annotated[int, typer.Option(min=1, help="So many times the scenarios are cut in two.")] = 200,
    readme: Annotated[Path | None, typer.Option(help="Write the lines into this file, between its marks.")] = None,
    block: Annotated[str, typer.Option(help="The name of these marks.")] = "stability",
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Rank the contestants on random halves of the scenarios, and compare the rankings."""
    from TokenOptEnv.cli import screen
    from TokenOptEnv.evaluation import leaderboard, marked_block, stability
    from TokenOptEnv.evaluation.run_folder import load_run

    board, results = leaderboard.board_of([load_run(folder) for folder in dict.fromkeys(runs)])
    contestants = [result for result in results if result.policy not in board.truth_knowers]
    found = stability.stability(contestants, halvings)
    lines = stability.told(found)
    if readme is not None:
        marked_block.rewrite(readme, block, "\n".join(f"- {line}" for line in lines))
    if as_json:
        screen.json(found)
    else:
        screen.show(*lines)
