"""`camre report`: one HTML file that shows a whole evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    runs: Annotated[list[Path], typer.Argument(help="Folders that camre eval --out wrote.")],
    out: Annotated[Path | None, typer.Option(help="The file; report.html in the first folder when left out.")] = None,
    episodes: Annotated[
        int, typer.Option(min=0, max=5_000, help="How many episodes the viewer holds, spread over the suite.")
    ] = 240,
    workers: Annotated[int | None, typer.Option(help="Processes; one for each core when left out.")] = None,
) -> None:
    """Write one self-contained HTML file: fronts, tables and an episode viewer. It needs no network."""
    from TokenOptEnv.cli import screen
    from TokenOptEnv.evaluation import report as pages
    from TokenOptEnv.evaluation import runner
    from TokenOptEnv.evaluation.run_folder import load_run

    read = [load_run(folder) for folder in dict.fromkeys(runs)]
    crew = workers if workers is not None else runner.crew(episodes)
    file = out or runs[0] / "report.html"
    for made in screen.progress(pages.build(read, crew, episodes), episodes + 1, "Replaying"):
        if isinstance(made, pages.Report):
            pages.write(made, file)
    screen.line(f"written: {file}")
