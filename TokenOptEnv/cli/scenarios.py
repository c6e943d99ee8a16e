"""`camre scenarios`."""

from __future__ import annotations

from typing import Annotated

import typer

from TokenOptEnv.cli import (
    scenario_ablate,
    scenario_audit,
    scenario_build,
    scenario_gallery,
    scenario_import,
    scenario_new,
    scenario_validate,
    splits,
)

app = typer.Typer(help="The tasks there are.")
Json = Annotated[bool, typer.Option("--json", help="Machine output.")]


@app.callback()
def _group() -> None:
    """The tasks there are."""


@app.command("list")
def list_scenarios(
    split: Annotated[str, typer.Option(help=splits.LISTED)] = "core",
    as_json: Json = False,
) -> None:
    """Name every scenario of a split."""
    from rich.table import Table

    from TokenOptEnv import scenario_store
    from TokenOptEnv.cli import screen

    rows = scenario_store.rows(split)
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
    from TokenOptEnv.errors import BadInput

    if reveal and scenario_store.split_of(scenario_id) == "test":
        raise BadInput(f"reveal is not for the test split; show {scenario_id!r} without it")
    page = scenario_page.page(scenario_store.load(scenario_id), reveal)
    if as_json:
        screen.json(page)
    else:
        screen.show(*scenario_page.rendered(page))


app.command("build")(scenario_build.build)
app.command("validate")(scenario_validate.validate)
app.command("import")(scenario_import.import_scenarios)
app.add_typer(scenario_new.app, name="new")
app.command("audit")(scenario_audit.audit)
app.command("ablate")(scenario_ablate.ablate)
app.command("gallery")(scenario_gallery.gallery)
