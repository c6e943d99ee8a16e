"""`camre scenarios validate`: every check on every scenario, spread over processes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from TokenOptEnv.cli import splits

if TYPE_CHECKING:
    from TokenOptEnv.evaluation.faults import Fault


@dataclass(frozen=True, slots=True)
class _Checking:
    """One scenario's checks, in whichever process."""

    execute: bool
    mutated_plans: int

    def __call__(self, name: str) -> tuple[str, tuple[Fault, ...]]:
        from TokenOptEnv import scenario_store
        from TokenOptEnv.evaluation.spec_faults import check_file, is_case_file
        from TokenOptEnv.evaluation.validate import validate

        if is_case_file(name):
            return name, check_file(Path(name))
        scenario = scenario_store.load(name)
        return name, validate(scenario, execute=self.execute, mutated_plans=self.mutated_plans)


def validate(
    scenario_ids: Annotated[
        list[str] | None, typer.Argument(help="Ids, or files of cases; all when left out.", metavar="[ID]...")
    ] = None,
    split: Annotated[str, typer.Option(help=f"Where no scenario is named: {splits.ANY}")] = "core",
    count: Annotated[int | None, typer.Option(help="Its first so many; all when left out.")] = None,
    execute: Annotated[bool, typer.Option("--execute", help="Run again what a scenario claims to have run.")] = False,
    mutations: Annotated[int, typer.Option(help="So many mutated plans a scenario, against its bound.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Processes; one for each core when left out.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Check that scenarios keep their contract; each fault is one line, and any error fails the command."""
    from TokenOptEnv import scenario_store
    from TokenOptEnv.cli import screen
    from TokenOptEnv.cli.scenario_progress import watched
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.evaluation import pool
    from TokenOptEnv.evaluation.faults import Level
    from TokenOptEnv.evaluation.spec_faults import is_case_file

    if count is not None and count < 1:
        raise BadInput(f"{count} scenarios cannot be checked; give 1 or more")
    if mutations < 0:
        raise BadInput(f"{mutations} mutated plans cannot be played; give 0 or more")
    if scenario_ids:
        known = (name if is_case_file(name) else scenario_store.load(name).scenario_id for name in scenario_ids)
        names = list(dict.fromkeys(known))
    elif count is not None:
        names = [scenario_store.at(split, place) for place in range(min(count, scenario_store.size(split)))]
    else:
        names = list(scenario_store.ids(split))
    checked = pool.results(_Checking(execute, mutations), names, workers or os.cpu_count() or 1)
    found = sorted(watched(checked, len(names), 0, "Checking"), key=lambda each: names.index(each[0]))
    faults = [fault for _, held in found for fault in held]
    errors = sum(fault.level is Level.ERROR for fault in faults)
    if as_json:
        screen.json(faults)
    else:
        for fault in faults:
            screen.line(fault.line)
        screen.line(f"{len(names)} scenarios, {errors} errors, {len(faults) - errors} warnings")
    if errors:
        raise typer.Exit(1)
