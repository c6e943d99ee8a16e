"""The packs that are shipped: one a split, found by the numbers of their cases."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from TokenOptEnv.scenario import Scenario
from TokenOptEnv.scenario_store.pack_archive import Pack
from TokenOptEnv.scenario_store.splits import Case, case_named
from TokenOptEnv.task_defs.generation import GENERATOR_VERSION, Split, split_of


def packs_folder() -> Traversable:
    return files("TokenOptEnv") / "data" / "packs"


def pack_name(split: Split) -> str:
    return f"{split.value}.zip"


@lru_cache(maxsize=4)
def shipped(split: Split) -> Pack | None:
    """A pack of another generator version holds nothing of ours."""
    file = packs_folder() / pack_name(split)
    if split is Split.TRAIN or not file.is_file():
        return None
    pack = Pack(file.read_bytes(), split.value)
    return pack if pack.index.generator_version == GENERATOR_VERSION else None


def holds(case: Case) -> bool:
    pack = shipped(split_of(case.number))
    return pack is not None and case.scenario_id in pack


def load(case: Case) -> Scenario:
    pack = shipped(split_of(case.number))
    assert pack is not None
    return pack.scenario(case.scenario_id)


def plans_json(scenario_id: str) -> bytes | None:
    """The plans that are shipped with a case, for the room that can read them."""
    case = case_named(scenario_id)
    pack = shipped(split_of(case.number)) if case is not None else None
    return pack.plans_json(scenario_id) if pack is not None and scenario_id in pack else None
