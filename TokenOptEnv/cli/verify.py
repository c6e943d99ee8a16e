"""`camre verify-run`: play a run's traces again, and score them afresh."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def verify_run(
    folder: Annotated[Path, typer.Argument(help="A folder that camre eval --out wrote.")],
    workers: Annotated[int | None, typer.Option(help="Processes; one for each core when left out.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Replay every trace of a run and compare what it says with what this engine does."""
    from TokenOptEnv.cli import screen
    from TokenOptEnv.evaluation import runner, verify_run
    from TokenOptEnv.evaluation.leaderboard import PROOF, REAL_NOTE
    from TokenOptEnv.evaluation.run_folder import load_run

    run = load_run(folder)
    crew = workers if workers is not None else runner.crew(len(run.results))
    parts = 1 + len({result.scenario_id for result in run.results})
    found = screen.progress(verify_run.verify(run, crew), parts, "Replaying")
    faults = [fault for part in found for fault in part]
    if as_json:
        screen.json(faults)
    else:
        for fault in faults:
            screen.line(fault.line)
        screen.line(f"{len(run.results)} episodes, {len(faults)} faults")
        screen.show(PROOF, *([] if run.recording is None else [REAL_NOTE]))
    if faults:
        raise typer.Exit(1)
