"""`camre policies`."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(help="The policies there are.")


@app.callback()
def _group() -> None:
    """The policies there are."""


@app.command("list")
def list_policies(as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False) -> None:
    """Name and describe every policy."""
    from rich.table import Table

    from TokenOptEnv import policies
    from TokenOptEnv.cli import screen
    from TokenOptEnv.models.base import Frozen

    class Row(Frozen):
        name: str
        describes: str
        knows_truth: bool

    found = [policies.info(name) for name in policies.names()]
    rows = [Row(name=each.name, describes=each.describes, knows_truth=each.knows_truth) for each in found]
    if as_json:
        screen.json(rows)
        return
    table = Table("policy", "what it does", "knows the truth")
    for row in rows:
        table.add_row(row.name, row.describes, "yes" if row.knows_truth else "no")
    kinds = Table("name", "what it names")
    for scheme in policies.schemes().values():
        members = f": {', '.join(scheme.members())}" if scheme.members() else ""
        kinds.add_row(f"{scheme.scheme}:{scheme.takes}", f"{scheme.describes}{members}")
    kinds.add_row("module:Class", "a policy of your own, from this folder or from PYTHONPATH")
    screen.show(table, kinds)
