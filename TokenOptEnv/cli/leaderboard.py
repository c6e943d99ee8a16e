"""`camre leaderboard`: runs on one board."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def leaderboard(
    runs: Annotated[list[Path], typer.Argument(help="Folders that camre eval --out wrote.")],
    readme: Annotated[Path | None, typer.Option(help="Write the table into this file, between its marks.")] = None,
    block: Annotated[str, typer.Option(help="The name of these marks.")] = "leaderboard",
    against: Annotated[
        str | None, typer.Option(help="Compare every policy with this one, by scenario; with --json, that alone.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="The table as Markdown.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Rank the policies of one run or of several, on the episodes that all of them played."""
    from TokenOptEnv.cli import screen
    from TokenOptEnv.evaluation import leaderboard, marked_block
    from TokenOptEnv.evaluation.run_folder import load_run

    read = [load_run(folder) for folder in dict.fromkeys(runs)]
    board, results = leaderboard.board_of(read)
    compared = () if against is None else leaderboard.compared(board, results, against)
    if readme is not None:
        marked_block.rewrite(readme, block, leaderboard.markdown(board, compared))
    if as_json:
        screen.json(board if against is None else compared)
    elif markdown:
        screen.line(leaderboard.markdown(board, compared))
    else:
        told = ("", *map(str, compared)) if compared else ()
        screen.show(leaderboard.table(board), *leaderboard.notes(board), "", leaderboard.PROOF, *told)
    for run in read:
        if not run.finished and not as_json:
            screen.line(f"{run.folder} is not finished: {len(run.results)} of {len(run.spec.jobs())} episodes")
