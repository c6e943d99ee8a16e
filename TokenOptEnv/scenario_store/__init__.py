"""Where scenarios come from: by id, or by place in a split.

`core` is designed by hand and shipped. `train` has any number of cases, generated when asked for and kept in a
cache. `validation` and `test` are generated once and shipped as packs. `imported` is what a user made of evidence of
their own, in a folder of theirs.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from TokenOptEnv.errors import BadInput, UnknownName
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.scenario_store import core, imported, packs, train_cache
from TokenOptEnv.scenario_store.core import Index, designed, index, ship, shipped_folder
from TokenOptEnv.scenario_store.imported import IMPORTED
from TokenOptEnv.scenario_store.index_row import IndexRow
from TokenOptEnv.scenario_store.splits import SPLITS, case_at, case_named, split_size
from TokenOptEnv.task_defs.generation import Split
from TokenOptEnv.task_defs.generation import split_of as number_split

__all__ = [
    "IMPORTED",
    "SPLITS",
    "Index",
    "IndexRow",
    "at",
    "designed",
    "ids",
    "index",
    "keep_imported",
    "load",
    "plans_json",
    "rows",
    "ship",
    "shipped_folder",
    "size",
    "split_of",
]

_MOST_LISTED = 10_000


def size(split: str) -> int:
    """How many cases a split has."""
    listed = _listed(split)
    return len(listed) if listed is not None else split_size(_generated(split))


def ids(split: str = "core") -> tuple[str, ...]:
    listed = _listed(split)
    if listed is not None:
        return tuple(row.scenario_id for row in listed)
    chosen = _generated(split)
    if split_size(chosen) > _MOST_LISTED:
        raise _too_many(split)
    return tuple(case_at(chosen, place).scenario_id for place in range(split_size(chosen)))


def at(split: str, place: int) -> str:
    """The scenario id at a place of a split."""
    if not 0 <= place < size(split):
        raise BadInput(f"index {place} is not in split {split!r}; it goes from 0 to {size(split) - 1}")
    listed = _listed(split)
    return listed[place].scenario_id if listed is not None else case_at(_generated(split), place).scenario_id


@lru_cache(maxsize=256)
def load(scenario_id: str) -> Scenario:
    """Loaded once and shared: a scenario is frozen."""
    if imported.is_imported(scenario_id):
        return imported.load(scenario_id)
    case = case_named(scenario_id)
    if case is None:
        return core.load(scenario_id)
    return packs.load(case) if packs.holds(case) else train_cache.load(case)


def rows(split: str) -> tuple[IndexRow, ...]:
    """What is told of every case of a split."""
    listed = _listed(split)
    if listed is not None:
        return listed
    if split_size(_generated(split)) > _MOST_LISTED:
        raise _too_many(split)
    pack = packs.shipped(_generated(split))
    if pack is None:
        raise BadInput(f"no pack of split {split!r} is shipped; build it: camre scenarios build --split {split}")
    return pack.index.scenarios


def split_of(scenario_id: str) -> str:
    """The split an id belongs to."""
    if imported.is_imported(scenario_id):
        return IMPORTED
    case = case_named(scenario_id)
    return "core" if case is None else number_split(case.number).value


def plans_json(scenario_id: str) -> bytes | None:
    """The plans that are kept beside a case, for the room that can read them."""
    kept = imported.plans_json if imported.is_imported(scenario_id) else packs.plans_json
    return kept(scenario_id)


def keep_imported(scenario: Scenario, plans: bytes | None, folder: Path) -> Path:
    """Into a user's folder; what was loaded under its id before is forgotten."""
    file = imported.keep(scenario, plans, folder)
    load.cache_clear()
    return file


def _listed(split: str) -> tuple[IndexRow, ...] | None:
    """The cases of a split that has an index; None of one whose cases follow from their numbers."""
    if split == "core":
        return index().scenarios
    if split != IMPORTED:
        return None
    rows = imported.rows()
    if not rows:
        raise BadInput("nothing is imported in CAMRE_SCENARIOS_DIR, or here; see: camre scenarios import --help")
    return rows


def _generated(split: str) -> Split:
    try:
        return Split(split)
    except ValueError:
        raise UnknownName("split", split, (*SPLITS, IMPORTED), "camre scenarios list") from None


def _too_many(split: str) -> BadInput:
    return BadInput(f"split {split!r} has {split_size(Split(split))} cases and no list; name one by its index")
