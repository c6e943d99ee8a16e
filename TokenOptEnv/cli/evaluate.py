"""`camre eval`: play policies on scenarios, and rank them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from TokenOptEnv.cli import live_settings, splits


def evaluate(
    policy: Annotated[
        list[str] | None, typer.Option(help="A name, llm:MODEL or your own module:Class; repeat for more.")
    ] = None,
    split: Annotated[str, typer.Option(help=splits.ANY)] = "core",
    episodes: Annotated[
        int | None, typer.Option(help="So many for each policy; all of the split when left out.")
    ] = None,
    scenario: Annotated[
        list[str] | None, typer.Option(help="A scenario id; repeat for more. Instead of a split.")
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(help="Like 7, 0-3 or 0,2,5-7. On core 0-3, one for each world; elsewhere 0.")
    ] = None,
    profile: Annotated[str | None, typer.Option(help="v1 or v2.")] = None,
    track: Annotated[str | None, typer.Option(help="controller or solver.")] = None,
    catalog: Annotated[str | None, typer.Option(help="measured or current.")] = None,
    controller: Annotated[str | None, typer.Option(help="The model that the policy's prompts are billed as.")] = None,
    memory_tokens: Annotated[int | None, typer.Option(help="A working memory of another size.")] = None,
    anonymous_models: Annotated[bool, typer.Option("--anonymous-models", help="Hide the names of models.")] = False,
    backend: Annotated[str, typer.Option(help=live_settings.KINDS)] = "simulated",
    cap_usd: Annotated[str | None, typer.Option(help=live_settings.CAP)] = None,
    served_as: Annotated[list[str] | None, typer.Option(help=live_settings.SERVED_AS)] = None,
    workers: Annotated[int | None, typer.Option(help="Processes, or live episodes at a time.")] = None,
    engine: Annotated[str, typer.Option(help="local, or ray for a Ray cluster.")] = "local",
    out: Annotated[Path | None, typer.Option(help="A folder for results and traces; resumed if interrupted.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin anew in that folder.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Play policies on scenarios, once per seed, and show the leaderboard."""
    from tempfile import TemporaryDirectory

    from TokenOptEnv import backends, policies, scenario_store
    from TokenOptEnv.cli import run_progress, screen
    from TokenOptEnv.cli import seeds as seed_list
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.evaluation import answers, leaderboard, runner, suite
    from TokenOptEnv.evaluation.run_folder import RunFolder
    from TokenOptEnv.evaluation.runner import Engine

    if engine not in list(Engine):
        raise typer.BadParameter(f"engine must be one of {', '.join(Engine)}, not {engine[:40]!r}")
    settings = live_settings.told(None, cap_usd, served_as)
    stated = backends.stated(backend, settings)
    if stated.grows and out is None:
        raise BadInput("a live run keeps what it paid for: name a folder with --out")
    names = [policies.info(name).name for name in policy or policies.names()]
    options = suite.options(
        profile=profile,
        track=track,
        catalog=catalog,
        controller_model=controller,
        memory_tokens=memory_tokens,
        anonymous_models=anonymous_models,
    )
    chosen_seeds = seed_list.parse(seeds if seeds is not None else "0-3" if split == "core" else "0")
    ids = [scenario_store.load(name).scenario_id for name in scenario or ()]
    spec = suite.run_spec(
        names,
        suite.CHOSEN if ids else split,
        ids or suite.scenarios_of(split, episodes),
        chosen_seeds,
        options,
        episodes,
        stated,
    )
    jobs = spec.jobs()
    with (
        TemporaryDirectory() as nowhere,
        RunFolder.opened(out or Path(nowhere), spec, fresh) as folder,
        answers.kept_in(folder.path, backend, settings) as live,
    ):
        usual = runner.crew(len(jobs) - len(folder.done)) if live is None else settings.at_once
        crew = workers if workers is not None else usual
        for _ in run_progress.watched(runner.play(spec, folder, crew, Engine(engine), live), len(jobs)):
            pass
        results = [folder.done[job] for job in jobs]
    shown = leaderboard.board(results, spec.truth_knowers, leaderboard.title(spec), (spec.backend,))
    if as_json:
        screen.json(leaderboard.report(shown, results))
        return
    screen.show(leaderboard.table(shown), *leaderboard.notes(shown))
    if out is not None:
        if spec.backend.grows:
            paid = answers.paid_nano_usd(out)
            screen.line(f"paid to real models: ${paid / 1e9:.4f}, of at most ${settings.cap_nano_usd / 1e9:.2f}")
        screen.line(f"written: {out}")
