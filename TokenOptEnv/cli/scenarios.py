"""`camre scenarios`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="The tasks there are.")
Json = Annotated[bool, typer.Option("--json", help="Machine output.")]


@app.callback()
def _group() -> None:
    """The tasks there are."""


@app.command("list")
def list_scenarios(
    split: Annotated[str, typer.Option(help="The suite.")] = "core",
    as_json: Json = False,
) -> None:
    """Name every scenario of a split."""
    from rich.table import Table

    from TokenOptEnv import scenario_store
    from TokenOptEnv.cli import screen

    in_split = scenario_store.ids(split)
    rows = [row for row in scenario_store.index().scenarios if row.scenario_id in in_split]
    if as_json:
        screen.json(rows)
        return
    table = Table(title=f"{split}: {len(rows)} scenarios", title_justify="left")
    table.add_column("scenario", no_wrap=True)
    table.add_column("title")
    table.add_column("tokens", justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row.scenario_id, row.title, f"{row.artifact_tokens:,}")
    screen.show(table)


@app.command()
def show(
    scenario_id: Annotated[str, typer.Argument(help="See: camre scenarios list.")],
    reveal: Annotated[bool, typer.Option("--reveal", help="Add the answers and the facts they rest on.")] = False,
    as_json: Json = False,
) -> None:
    """What an agent is told of a scenario; with --reveal, what is hidden from it too."""
    from TokenOptEnv import scenario_store
    from TokenOptEnv.cli import scenario_page, screen

    page = scenario_page.page(scenario_store.load(scenario_id), reveal)
    if as_json:
        screen.json(page)
    else:
        screen.show(*scenario_page.rendered(page))


@app.command()
def validate(
    scenario_ids: Annotated[list[str] | None, typer.Argument(help="All when left out.", metavar="[ID]...")] = None,
    as_json: Json = False,
) -> None:
    """Check that scenarios keep their contract; each fault is one line, and any error fails the command."""
    from TokenOptEnv import scenario_store
    from TokenOptEnv.cli import screen
    from TokenOptEnv.evaluation.faults import Fault, Level
    from TokenOptEnv.evaluation.validate import validate as check

    found = [scenario_store.load(name) for name in scenario_ids or scenario_store.ids()]
    faults: list[Fault] = []
    for scenario in screen.progress(found, len(found), "Checking"):
        faults += check(scenario)
    errors = sum(fault.level is Level.ERROR for fault in faults)
    if as_json:
        screen.json(faults)
    else:
        for fault in faults:
            screen.line(fault.line)
        screen.line(f"{len(found)} scenarios, {errors} errors, {len(faults) - errors} warnings")
    if errors:
        raise typer.Exit(1)


@app.command()
def build(
    folder: Annotated[Path | None, typer.Option(help="Where to write; the package's own data when left out.")] = None,
) -> None:
    """Build the core suite afresh from its authors' cases, with its reference plans."""
    from TokenOptEnv import scenario_store
    from TokenOptEnv.cli import screen
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.plans import plan_store

    place = folder if folder is not None else Path(str(scenario_store.shipped_folder()))
    if place.is_dir() and any(place.glob("*.json.gz")) and not (place / "index.json").is_file():
        raise BadInput(f"{place.name!r} holds .json.gz files that are no suite; building would replace them")
    scenarios = scenario_store.designed()
    scenario_store.ship(scenarios, place)
    plan_store.ship(list(scenarios.values()), place)
    screen.line(f"{len(scenarios)} scenarios with their plans: {place}")
