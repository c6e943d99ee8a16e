"""`camre scenarios audit`: is a split fair to those who did not see it in training?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from TokenOptEnv.evaluation.audit import FamilyAudit, Sample
    from TokenOptEnv.scenario_store.splits import Case


def audit(
    split: Annotated[str, typer.Option(help="test, validation or train.")] = "test",
    count: Annotated[int | None, typer.Option(help="The first so many cases; all when left out.")] = None,
    train: Annotated[int, typer.Option(help="So many train cases to compare with and to learn from.")] = 300,
    workers: Annotated[int | None, typer.Option(help="Processes; one for each core when left out.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Look for near-duplicates of train and for shortcuts; anything found fails the command."""
    from TokenOptEnv.cli import screen
    from TokenOptEnv.errors import BadInput, UnknownName
    from TokenOptEnv.evaluation import pack_building
    from TokenOptEnv.evaluation.audit import audit as audited
    from TokenOptEnv.task_defs.generation import Split

    if split not in tuple(Split):
        raise UnknownName("generated split", split, tuple(Split), "camre scenarios list")
    judged = pack_building.cases(Split(split), count)
    others = len(judged) if split == Split.TRAIN else 0
    learnt = pack_building.cases(Split.TRAIN, others + train)[others:]
    if not {case.family for case in judged} <= {case.family for case in learnt}:
        raise BadInput(f"{train} train cases do not show every family; give more: --train")
    _make_missing((*judged, *learnt), workers or os.cpu_count() or 1)
    found = audited(_read(judged, "Reading"), _read(learnt, "Learning"))
    if as_json:
        screen.json(found)
    else:
        _show(found)
    if any(family.faults for family in found):
        raise typer.Exit(1)


def _make_missing(wanted: Sequence[Case], workers: int) -> None:
    from TokenOptEnv.cli.scenario_progress import watched
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.evaluation import pack_building
    from TokenOptEnv.scenario_store import packs

    missing = [case for case in wanted if not packs.holds(case)]
    made = pack_building.generate_into_cache(missing, workers)
    for done in watched(made, len(missing), 0, "Generating"):
        if done.fault is not None:
            raise BadInput(f"{done.scenario_id}: {done.fault}")


def _read(wanted: Sequence[Case], what: str) -> Sample:
    from TokenOptEnv import scenario_store
    from TokenOptEnv.cli import screen

    return [(case, scenario_store.load(case.scenario_id)) for case in screen.progress(wanted, len(wanted), what)]


def _show(found: Sequence[FamilyAudit]) -> None:
    from rich.table import Table

    from TokenOptEnv.cli import screen

    for family in found:
        shortcuts = family.shortcuts
        table = Table("guesser", title=f"{family.family}: {shortcuts.cases} cases", title_justify="left")
        table.add_column("all fields right", justify="right")
        table.add_column("fields right", justify="right")
        for score in shortcuts.scores:
            table.add_row(score.guesser, f"{score.success:.1%}", f"{score.fields:.1%}")
        screen.show(table)
        screen.line(
            f"no fault in {shortcuts.no_fault_share:.1%};"
            f" {family.near} of {family.telling_segments} telling segments nearly seen in train"
        )
    for family in found:
        for line in family.faults:
            screen.line(line)
