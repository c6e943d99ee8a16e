"""`camre scenarios build`: the core suite, the packs, and the cache of train."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from TokenOptEnv.evaluation.pack_building import Built, WorkFolder
    from TokenOptEnv.scenario import Scenario
    from TokenOptEnv.scenario_store.splits import Case
    from TokenOptEnv.task_defs.generation import Split


def build(
    split: Annotated[str, typer.Option(help="core, validation, test, or train (into its cache).")] = "core",
    count: Annotated[int | None, typer.Option(help="The first so many cases; all when left out.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; one for each core when left out.")] = None,
    folder: Annotated[Path | None, typer.Option(help="Where to write; the package's own data when left out.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing: compare with what is shipped.")] = False,
) -> None:
    """Build a suite afresh, with its plans. Finished cases are kept: after a kill, the same command goes on."""
    from TokenOptEnv import scenario_store
    from TokenOptEnv.errors import BadInput, UnknownName
    from TokenOptEnv.task_defs.generation import Split

    if split not in scenario_store.SPLITS:
        raise UnknownName("split", split, scenario_store.SPLITS, "camre scenarios list")
    if split == "core":
        if count is not None:
            raise BadInput("the core suite is built whole; leave --count out")
        _build_core(folder, check)
    elif split == "train" and folder is None:
        if check:
            raise BadInput("nothing of split 'train' is shipped to compare with; leave --check out")
        _fill_cache(count, workers or _cores())
    else:
        _build_pack(Split(split), count, workers or _cores(), folder, check)


def _build_core(folder: Path | None, check: bool) -> None:
    from TokenOptEnv import scenario_store
    from TokenOptEnv.cli import screen
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.plans import plan_store
    from TokenOptEnv.plans.stored_plans import make_stored_plans

    place = folder if folder is not None else Path(str(scenario_store.shipped_folder()))
    scenarios = scenario_store.designed()
    if check:
        _compared(_core_differences(scenarios), len(scenarios))
        return
    if place.is_dir() and any(place.glob("*.json.gz")) and not (place / "index.json").is_file():
        raise BadInput(f"{place.name!r} holds .json.gz files that are no suite; building would replace them")
    plans = [make_stored_plans(each) for each in screen.progress(scenarios.values(), len(scenarios), "Planning")]
    scenario_store.ship(scenarios, place)
    plan_store.ship(plans, place)
    screen.line(f"{len(scenarios)} scenarios with their plans: {place}")


def _core_differences(scenarios: Mapping[str, Scenario]) -> list[str]:
    from TokenOptEnv import scenario_store
    from TokenOptEnv.cli import screen
    from TokenOptEnv.plans import plan_store
    from TokenOptEnv.plans.stored_plans import make_stored_plans

    shipped = {row.scenario_id: row.content_hash for row in scenario_store.index().scenarios}
    lines = [f"{name}: is no longer designed" for name in shipped if name not in scenarios]
    for name, scenario in screen.progress(scenarios.items(), len(scenarios), "Planning"):
        if name not in shipped:
            lines.append(f"{name}: is not in the suite")
        elif shipped[name] != scenario.content_hash:
            lines.append(f"{name}: its content is {shipped[name][:12]}, built {scenario.content_hash[:12]}")
        elif plan_store.stored_plans(scenario) != make_stored_plans(scenario):
            lines.append(f"{name}: its plans are not those that are made today")
    return lines


def _fill_cache(count: int | None, workers: int) -> None:
    from TokenOptEnv.cli import screen
    from TokenOptEnv.cli.scenario_progress import watched
    from TokenOptEnv.evaluation import pack_building
    from TokenOptEnv.scenario_store import train_cache
    from TokenOptEnv.task_defs.generation import Split

    wanted = pack_building.cases(Split.TRAIN, count)
    done = pack_building.generate_into_cache(wanted, workers)
    _stop_at_faults(watched(done, len(wanted), 0, "Generating"))
    screen.line(f"{len(wanted)} scenarios of train: {train_cache.folder()}")


def _build_pack(split: Split, count: int | None, workers: int, folder: Path | None, check: bool) -> None:
    from TokenOptEnv.cli import screen
    from TokenOptEnv.cli.scenario_progress import watched
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.evaluation import pack_building
    from TokenOptEnv.evaluation.data_card import card
    from TokenOptEnv.scenario_store.pack_archive import Pack
    from TokenOptEnv.scenario_store.packs import pack_name, packs_folder

    if count is not None and folder is None and not check:
        raise BadInput(f"a part of split {split.value!r} is not shipped; say where it goes: --folder")
    place = folder if folder is not None else Path(str(packs_folder()))
    file = place / pack_name(split)
    wanted = pack_building.cases(split, count)
    work = pack_building.work_folder(split)
    left = pack_building.unfinished(wanted, work)
    kept = len(wanted) - len(left)
    if kept:
        screen.line(f"{kept} of {len(wanted)} are finished already")
    _stop_at_faults(watched(pack_building.build(left, work, workers), len(wanted), kept, "Building"))
    if check:
        _check_pack(file, wanted, work)
        return
    index = pack_building.assemble(file, split.value, wanted, work)
    (place / f"{split.value}.md").write_text(card(Pack(file.read_bytes(), split.value)), encoding="utf-8")
    work.remove()
    size = file.stat().st_size / 1e6
    screen.line(f"{len(wanted)} scenarios with their plans, {size:.1f} MB, content {index.content_hash[:16]}: {file}")


def _check_pack(file: Path, wanted: Sequence[Case], work: WorkFolder) -> None:
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.evaluation import pack_building
    from TokenOptEnv.scenario_store.pack_archive import Pack

    if not file.is_file():
        raise BadInput(f"there is no pack {file.name!r} to compare with; build it first, without --check")
    _compared(pack_building.differences(wanted, work, Pack(file.read_bytes(), file.stem)), len(wanted))
    work.remove()


def _compared(lines: Sequence[str], total: int) -> None:
    from TokenOptEnv.cli import screen

    for line in lines:
        screen.line(line)
    screen.line(f"{total} scenarios, {len(lines)} of them not as shipped")
    if lines:
        raise typer.Exit(1)


def _stop_at_faults(done: Iterable[Built]) -> None:
    """Every case is tried before any fault ends the command, so that one run names them all."""
    from TokenOptEnv.cli import screen

    faults = sorted((each.scenario_id, each.fault) for each in done if each.fault is not None)
    for scenario_id, fault in faults:
        screen.line(f"{scenario_id}: {fault}")
    if faults:
        screen.line(f"{len(faults)} scenarios cannot be built; nothing is written")
        raise typer.Exit(1)


def _cores() -> int:
    return os.cpu_count() or 1
