"""A box of cases: scenarios and what their reference plans cost in each world, in one file.

Generating a case takes seconds and planning it some more, a step takes a fraction of a millisecond. So both are done once, ahead, and a
training run only reads. The same box plays on a machine of another Python version, where generating is not offered.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from TokenOptEnv.config import DEFAULT_WORLDS, Difficulty, EpisodeConfig
from TokenOptEnv.errors import BadInput, PlanNotFound
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.plans import reference_costs
from TokenOptEnv.scenario import Scenario, dump_scenario, load_scenario
from TokenOptEnv.version import SCORING_VERSION
from TokenOptEnv.world import ReferenceCosts

_INDEX = "index.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_KEPT = 64


class Cost(Frozen):
    nano_usd: int
    routed_nano_usd: int


class BoxedCase(Frozen):
    scenario_id: str
    family: str
    difficulty: Difficulty
    costs: tuple[Cost | None, ...]
    """By world; None where the planner found no plan under the box's options."""
    best_return: float
    """The best that a heuristic reached, as the mean over its worlds: how near to solvable the case is."""


class BoxIndex(Frozen):
    scoring_version: int
    split: str
    profile: str
    cases: tuple[BoxedCase, ...]


class CaseBox:
    """Opened anew in each process: a file position is not shared well. The last few scenarios are kept: groups share."""

    def __init__(self, file: Path) -> None:
        if not file.is_file():
            raise BadInput(f"there is no case box {str(file)!r}; make one: python -m training.collect --out {file}")
        self.file = file
        self._archive: zipfile.ZipFile | None = None
        self.load = lru_cache(maxsize=_KEPT)(self._load)
        with zipfile.ZipFile(file) as archive:
            self.index = BoxIndex.model_validate_json(archive.read(_INDEX))
        if self.index.scoring_version != SCORING_VERSION:
            raise BadInput(
                f"case box {str(file)!r} is of scoring version {self.index.scoring_version}, this is {SCORING_VERSION};"
                " make it again: python -m training.collect"
            )
        self.cases = {case.scenario_id: case for case in self.index.cases}

    def _load(self, scenario_id: str) -> Scenario:
        if self._archive is None:
            self._archive = zipfile.ZipFile(self.file)
        name = f"{scenario_id}.json.gz"
        return load_scenario(self._archive.read(name), name)

    def reference(self, scenario_id: str, seed: int) -> ReferenceCosts | None:
        cost = self.cases[scenario_id].costs[seed % DEFAULT_WORLDS]
        return None if cost is None else ReferenceCosts(cost.nano_usd, cost.routed_nano_usd)

    def named(self, *difficulties: Difficulty) -> tuple[str, ...]:
        return tuple(case.scenario_id for case in self.index.cases if case.difficulty in difficulties)


def plan_costs(scenario: Scenario, config: EpisodeConfig) -> tuple[Cost | None, ...]:
    return tuple(_cost(scenario, seed, config) for seed in range(DEFAULT_WORLDS))


def _cost(scenario: Scenario, seed: int, config: EpisodeConfig) -> Cost | None:
    """The end is graded the same way where no plan is found: by its own cost."""
    try:
        costs = reference_costs(scenario, seed, config)
    except PlanNotFound:
        return None
    return Cost(nano_usd=costs.nano_usd, routed_nano_usd=costs.routed_nano_usd)


def write(file: Path, index: BoxIndex, scenarios: Iterable[tuple[str, bytes]]) -> None:
    """`scenarios` are names and canonical bytes. Written aside and renamed: nobody reads half a box."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".draft")
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_STORED) as archive:
        for scenario_id, data in scenarios:
            archive.writestr(zipfile.ZipInfo(f"{scenario_id}.json.gz", _EPOCH), data)
        archive.writestr(zipfile.ZipInfo(_INDEX, _EPOCH), index.model_dump_json())
    draft.replace(file)


__all__ = ["BoxIndex", "BoxedCase", "CaseBox", "Cost", "dump_scenario", "plan_costs", "write"]
