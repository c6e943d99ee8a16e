"""`camre diff`: where two policies part."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from TokenOptEnv.evaluation.divergence import Divergence, Side


def diff(
    left: Annotated[Path, typer.Argument(help="A trace, or a folder of one policy's traces.")],
    right: Annotated[Path, typer.Argument(help="Another, of the same case or cases.")],
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Show the first step at which two policies act differently, and what came of it."""
    from TokenOptEnv.cli import screen
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.evaluation.divergence import diverge, diverge_all
    from TokenOptEnv.evaluation.recorded import read_trace

    if left.is_dir() != right.is_dir():
        raise BadInput("one of the two is a folder and the other a file; name two traces, or two folders of traces")
    if left.is_dir():
        found = list(diverge_all(left, right))
        if as_json:
            screen.json(found)
        else:
            screen.show(_overview(found, left.name, right.name), _tally(found, left.name, right.name))
        return
    one = diverge(read_trace(left), read_trace(right))
    if as_json:
        screen.json(one)
        return
    names = (left.parent.name or "left", right.parent.name or "right")
    screen.show(f"{one.scenario_id}, seed {one.seed}")
    if one.parts_at_step is None:
        screen.show("The same actions to the end.")
    else:
        shared = one.parts_at_step - 1
        screen.show(f"The same for {shared} steps; then:" if shared else "They part at once:", _beside(one, *names))
    screen.show(*(f"{name}: {_outcome(side)}" for name, side in zip(names, (one.left, one.right), strict=True)))


def _beside(one: Divergence, left: str, right: str) -> Table:
    from rich.table import Table

    from TokenOptEnv.by_hand.plain_text import plain

    table = Table("step", show_lines=True)
    for name in (left, right):
        table.add_column(name, overflow="fold", ratio=1)
    steps = zip_longest(
        zip(one.left.next_actions, one.left.next_nano_usd, strict=True),
        zip(one.right.next_actions, one.right.next_nano_usd, strict=True),
    )
    for number, pair in enumerate(steps, start=one.parts_at_step or 1):
        cells = ("" if each is None else plain(f"{each[0]}\n{_usd(each[1])}") for each in pair)
        table.add_row(str(number), *cells)
    return table


def _overview(found: list[Divergence], left: str, right: str) -> Table:
    from rich.table import Table

    table = Table()
    for head in ("case", "parts at", left, right):
        table.add_column(head, overflow="fold")
    for each in found:
        at = "-" if each.parts_at_step is None else str(each.parts_at_step)
        table.add_row(f"{each.scenario_id}@{each.seed}", at, _brief(each.left), _brief(each.right))
    return table


def _tally(found: list[Divergence], left: str, right: str) -> str:
    both = sum(each.left.success and each.right.success for each in found)
    ours = sum(each.left.success and not each.right.success for each in found)
    theirs = sum(each.right.success and not each.left.success for each in found)
    same = sum(each.parts_at_step is None for each in found)
    return (
        f"{len(found)} cases: both solve {both}, {left} alone {ours}, {right} alone {theirs};"
        f" the same actions in {same}"
    )


def _brief(side: Side) -> str:
    return f"{'solved' if side.success else 'not'} {_usd(side.cost_nano_usd)}"


def _outcome(side: Side) -> str:
    verdict = "solved" if side.success else "not solved"
    gained = "" if side.total_return is None else f", return {side.total_return:.3f}"
    return f"{verdict}{gained}, {_usd(side.cost_nano_usd)} in {side.steps} steps"


def _usd(nano_usd: int) -> str:
    return f"${nano_usd / 1e9:.5f}"
