"""`camre export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def export(
    run: Annotated[Path, typer.Argument(help="A folder that camre eval --out wrote.")],
    out: Annotated[Path, typer.Option(help="A new folder, for Parquet files and a README.")],
    policy: Annotated[
        list[str] | None, typer.Option(help="A policy of the run; repeat for more. All when left out.")
    ] = None,
    least_return: Annotated[
        float, typer.Option(help="Of an episode; 0.25 is the least of those that solved their task.")
    ] = 0.25,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Write the prompts and actions of a run as a Hugging Face dataset, for supervised fine-tuning."""
    from TokenOptEnv.adapters import hf_dataset
    from TokenOptEnv.cli import screen
    from TokenOptEnv.evaluation.run_folder import load_run

    chosen = hf_dataset.select(load_run(run), policy or (), least_return)
    episodes = screen.progress(chosen.episodes(), len(chosen.results), "Replaying")
    written = hf_dataset.write(episodes, chosen, out)
    if as_json:
        screen.json(written)
    else:
        screen.line(f"written: {out}, {written.rows} steps of {written.episodes} episodes")
