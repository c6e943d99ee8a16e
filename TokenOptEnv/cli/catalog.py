"""`camre catalog`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from TokenOptEnv.catalog import Catalog

app = typer.Typer(help="The models, and what they cost.")
_PICO_PER_USD_PER_MILLION = 1_000_000


@app.callback()
def _group() -> None:
    """The models, and what they cost."""


@app.command()
def show(
    name: Annotated[str | None, typer.Argument(help="A catalog; all of them when left out.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """The public card of every model of a catalog."""
    from TokenOptEnv.catalog import CATALOGS, load_catalog
    from TokenOptEnv.cli import screen
    from TokenOptEnv.models import CatalogStamp, ModelCard
    from TokenOptEnv.models.base import Frozen

    class Shown(Frozen):
        stamp: CatalogStamp
        cards: tuple[ModelCard, ...]

    found = [load_catalog(each) for each in ((name,) if name is not None else CATALOGS)]
    if as_json:
        screen.json([Shown(stamp=catalog.stamp, cards=tuple(catalog.cards.values())) for catalog in found])
        return
    for catalog in found:
        screen.show(_table(catalog))


def _table(catalog: Catalog) -> Table:
    from rich.table import Table

    stamp = catalog.stamp
    title = f"{stamp.version}, {stamp.date}; usd per million tokens ({stamp.package} {stamp.package_version})"
    table = Table("model", "tier", title=title, title_justify="left")
    for head in ("in", "out", "cached", "window"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("behaviour")
    for card in catalog.cards.values():
        cached = f"{card.cache_read_pico_usd / _PICO_PER_USD_PER_MILLION:g}" if card.cache_rule else "-"
        table.add_row(
            card.model_id,
            card.tier.value,
            f"{card.input_pico_usd / _PICO_PER_USD_PER_MILLION:g}",
            f"{card.output_pico_usd / _PICO_PER_USD_PER_MILLION:g}",
            cached,
            f"{card.context_window_tokens // 1000}k",
            card.behaviour_note.partition(":")[0],
        )
    return table
