"""Where scenarios come from: by id, or by place in a split.

`core` is designed by hand and shipped. `train` has any number of cases, generated when asked for and kept in a
cache. `validation` and `test` are generated once and shipped as packs.
"""

from __future__ import annotations

from functools import lru_cache

from TokenOptEnv.errors import BadInput, UnknownName
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.scenario_store import core, packs, train_cache
from TokenOptEnv.scenario_store.core import Index, designed, index, ship, shipped_folder
from TokenOptEnv.scenario_store.index_row import IndexRow
from TokenOptEnv.scenario_store.splits import SPLITS, case_at, case_named, split_size
from TokenOptEnv.task_defs.generation import Split
from TokenOptEnv.task_defs.generation import split_of as number_split

__all__ = [
    "SPLITS",
    "Index",
    "IndexRow",
    "at",
    "designed",
    "ids",
    "index",
    "load",
    "rows",
    "ship",
    "shipped_folder",
    "size",
    "split_of",
]

_MOST_LISTED = 10_000


def size(split: str) -> int:
    """How many cases a split has."""
    return len(index().scenarios) if split == "core" else split_size(_generated(split))


def ids(split: str = "core") -> tuple[str, ...]:
    if split == "core":
        return tuple(row.scenario_id for row in index().scenarios)
    chosen = _generated(split)
    if split_size(chosen) > _MOST_LISTED:
        raise _too_many(split)
    return tuple(case_at(chosen, place).scenario_id for place in range(split_size(chosen)))


def at(split: str, place: int) -> str:
    """The scenario id at a place of a split."""
    if not 0 <= place < size(split):
        raise BadInput(f"index {place} is not in split {split!r}; it goes from 0 to {size(split) - 1}")
    return index().scenarios[place].scenario_id if split == "core" else case_at(_generated(split), place).scenario_id


@lru_cache(maxsize=256)
def load(scenario_id: str) -> Scenario:
    """Loaded once and shared: a scenario is frozen."""
    case = case_named(scenario_id)
    if case is None:
        return core.load(scenario_id)
    return packs.load(case) if packs.holds(case) else train_cache.load(case)


def rows(split: str) -> tuple[IndexRow, ...]:
    """What is told of every case of a split."""
    if split == "core":
        return index().scenarios
    if split_size(_generated(split)) > _MOST_LISTED:
        raise _too_many(split)
    pack = packs.shipped(_generated(split))
    if pack is None:
        raise BadInput(f"no pack of split {split!r} is shipped; build it: camre scenarios build --split {split}")
    return pack.index.scenarios


def split_of(scenario_id: str) -> str:
    """The split an id belongs to."""
    case = case_named(scenario_id)
    return "core" if case is None else number_split(case.number).value


def _generated(split: str) -> Split:
    try:
        return Split(split)
    except ValueError:
        raise UnknownName("split", split, SPLITS, "camre scenarios list") from None


def _too_many(split: str) -> BadInput:
    return BadInput(f"split {split!r} has {split_size(Split(split))} cases and no list; name one by its index")
