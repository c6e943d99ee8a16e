"""`camre bench page`: docs/benchmarks.md, from what the benches said."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def page(
    results: Annotated[
        Path, typer.Argument(help="A folder of engine.json, growth.json, peers.json and server*.json: --json each.")
    ],
    out: Annotated[Path, typer.Option(help="The documentation's folder.")] = Path("docs"),
) -> None:
    """Write docs/benchmarks.md and its plot from the benches' machine output."""
    from TokenOptEnv.cli import screen
    from TokenOptEnv.evaluation import bench_page

    files = bench_page.files(bench_page.gathered(results))
    for path, text in files.items():
        file = out / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
        screen.line(str(file))
