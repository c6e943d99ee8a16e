"""`camre catalog`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from datetime import date

    from rich.table import Table

    from TokenOptEnv.catalog import Catalog
    from TokenOptEnv.catalog.snapshot import CardsFile

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


@app.command()
def refresh(
    name: Annotated[str | None, typer.Argument(help="A catalog; all of them when left out.")] = None,
    on: Annotated[
        str | None, typer.Option(help="The day whose prices count, as YYYY-MM-DD; today when left out.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change and write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Rebuild the snapshots from the installed price package and show what changed."""
    from TokenOptEnv.catalog import CATALOGS
    from TokenOptEnv.catalog.build import build_snapshot
    from TokenOptEnv.catalog.changes import Change, changes
    from TokenOptEnv.catalog.snapshot import load_cards
    from TokenOptEnv.cli import pages, screen
    from TokenOptEnv.models.base import Frozen

    class Refreshed(Frozen):
        catalog: str
        before: str
        after: str
        changes: tuple[Change, ...]

    day = _day(on)
    found: list[Refreshed] = []
    rebuilt: dict[str, CardsFile] = {}
    for each in (name,) if name is not None else CATALOGS:
        frozen, fresh = load_cards(each), build_snapshot(each, day)
        changed = changes(frozen, fresh)
        found.append(Refreshed(catalog=each, before=_made(frozen), after=_made(fresh), changes=changed))
        if changed:
            rebuilt[each] = fresh
    if not dry_run:
        pages.keep_snapshots(rebuilt)
    if as_json:
        screen.json(found)
        return
    for each_found in found:
        for change in each_found.changes:
            screen.line(f"{each_found.catalog}: {change.model_id} {change.field}: {change.before} -> {change.after}")
        screen.line(
            f"{each_found.catalog}: {len(each_found.changes)} changes from {each_found.before} to {each_found.after}"
        )
    if rebuilt and not dry_run:
        screen.line("borrowed behaviour and plans follow prices: run camre calibrate, then camre scenarios build")


def _day(text: str | None) -> date:
    from datetime import UTC, date, datetime

    from TokenOptEnv.errors import BadInput

    if text is None:
        return datetime.now(UTC).date()
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadInput(f"no such day {text!r}; write it as YYYY-MM-DD") from None


def _made(snapshot: CardsFile) -> str:
    return f"{snapshot.stamp.date} ({snapshot.stamp.package} {snapshot.stamp.package_version})"


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
