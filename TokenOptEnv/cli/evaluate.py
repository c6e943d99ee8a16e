"""`camre eval`: play policies on scenarios, and rank them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def evaluate(
    policy: Annotated[list[str] | None, typer.Option(help="A policy; repeat for more. All when left out.")] = None,
    split: Annotated[str, typer.Option(help="The suite to play.")] = "core",
    scenario: Annotated[
        list[str] | None, typer.Option(help="A scenario id; repeat for more. The whole split when left out.")
    ] = None,
    seeds: Annotated[str, typer.Option(help="Like 7, 0-4 or 0,2,5-7.")] = "0-4",
    profile: Annotated[str | None, typer.Option(help="v1 or v2.")] = None,
    track: Annotated[str | None, typer.Option(help="controller or solver.")] = None,
    catalog: Annotated[str | None, typer.Option(help="measured or current.")] = None,
    out: Annotated[Path | None, typer.Option(help="A folder for results.jsonl and traces.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Play policies on scenarios, once per seed, and show the leaderboard."""
    from TokenOptEnv import policies, scenario_store
    from TokenOptEnv.cli import screen
    from TokenOptEnv.cli import seeds as seed_list
    from TokenOptEnv.evaluation import episodes, leaderboard, suite
    from TokenOptEnv.evaluation.run_folder import RunFolder
    from TokenOptEnv.local_env import LocalEnv

    names = [policies.info(name).name for name in policy or policies.names()]
    in_split = scenario_store.ids(split)
    scenario_ids = [scenario_store.load(name).scenario_id for name in scenario] if scenario else in_split
    work = suite.jobs(names, scenario_ids, seed_list.parse(seeds))
    env = LocalEnv(profile=profile, track=track, catalog=catalog)
    folder = RunFolder(out) if out is not None else None
    results = []
    for job in screen.progress(work, len(work), "Playing"):
        played = episodes.play(job.policy, job.scenario_id, job.seed, env)
        results.append(played.result)
        if folder is not None:
            folder.add(played)
    report = suite.report(results)
    if as_json:
        screen.json(report)
        return
    title = f"{len(scenario_ids)} scenarios, seeds {seeds}"
    screen.show(leaderboard.table(report.overall, title))
    if any(policies.info(name).knows_truth for name in names):
        screen.show(leaderboard.TRUTH_NOTE)
    if out is not None:
        screen.line(f"written: {out}")
