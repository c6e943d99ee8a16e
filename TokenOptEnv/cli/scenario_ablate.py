"""`camre scenarios ablate`: what each action is worth in a split."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from TokenOptEnv.cli import splits

if TYPE_CHECKING:
    from TokenOptEnv.evaluation.ablation import CaseAblation

_JSON, _MARKDOWN = "ablation.json", "ablation.md"


@dataclass(frozen=True, slots=True)
class _Ablating:
    """One scenario, in whichever process."""

    worlds: int

    def __call__(self, scenario_id: str) -> CaseAblation | None:
        from TokenOptEnv import scenario_store
        from TokenOptEnv.evaluation.ablation import ablated

        return ablated(scenario_store.load(scenario_id), self.worlds)


def ablate(
    split: Annotated[str, typer.Option(help=splits.ANY)] = "core",
    count: Annotated[int | None, typer.Option(help="Its first so many; all when left out.")] = None,
    worlds: Annotated[int, typer.Option(help="So many worlds of each scenario.")] = 4,
    out: Annotated[Path | None, typer.Option(help="A folder for the table, as JSON and as Markdown.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; one for each core when left out.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Plan each scenario without one action after the other; an action that hardly matters fails the command."""
    from TokenOptEnv import scenario_store
    from TokenOptEnv.cli import screen
    from TokenOptEnv.cli.scenario_progress import watched
    from TokenOptEnv.config import DEFAULT_WORLDS
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.evaluation import pool
    from TokenOptEnv.evaluation.ablation import markdown, summed_up

    if count is not None and count < 1:
        raise BadInput(f"{count} scenarios cannot be planned; give 1 or more")
    if not 1 <= worlds <= DEFAULT_WORLDS:
        raise BadInput(f"a scenario has worlds 1 to {DEFAULT_WORLDS}, not {worlds}")
    if count is None:
        names = list(scenario_store.ids(split))
    else:
        names = [scenario_store.at(split, place) for place in range(min(count, scenario_store.size(split)))]
    made = pool.results(_Ablating(worlds), names, workers or os.cpu_count() or 1)
    cases = [case for case in watched(made, len(names), 0, "Planning") if case is not None]
    if not cases:
        raise BadInput(f"none of {len(names)} scenarios has a plan to compare with; take others: --split, --count")
    found = summed_up(cases, worlds)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / _JSON).write_text(found.model_dump_json(indent=1) + "\n", encoding="utf-8")
        (out / _MARKDOWN).write_text(markdown(found), encoding="utf-8")
    if as_json:
        screen.json(found)
    else:
        screen.line(markdown(found))
    if found.faults:
        raise typer.Exit(1)
