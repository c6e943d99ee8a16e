"""Plans, made when asked for and kept; those of the core suite are shipped."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from TokenOptEnv.config import DEFAULT_WORLDS, EpisodeConfig, RewardMode
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.plans.plan import Plan
from TokenOptEnv.plans.reference import make_reference_plan
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.scenario_store import shipped_folder
from TokenOptEnv.version import SCORING_VERSION
from TokenOptEnv.world import ReferenceCosts, world_index

_FILE = "plans.json"


class _ShippedPlan(Frozen):
    content_hash: str
    catalog_version: str
    plan: Plan


class _PlansFile(Frozen):
    scoring_version: int
    plans: tuple[_ShippedPlan, ...]


def reference_plan(scenario: Scenario, seed: int, config: EpisodeConfig) -> Plan:
    return _reference_plan(scenario, world_index(seed), _what_matters(config))


def reference_costs(scenario: Scenario, seed: int, config: EpisodeConfig) -> ReferenceCosts:
    plan = reference_plan(scenario, seed, config)
    return ReferenceCosts(plan.nano_usd, plan.routed_nano_usd)


def ship(scenarios: list[Scenario], folder: Path) -> None:
    """Write the plans of the core suite under the default options."""
    config = EpisodeConfig()
    shipped = [
        _ShippedPlan(
            content_hash=scenario.content_hash,
            catalog_version=config.catalog,
            plan=make_reference_plan(scenario, index, config),
        )
        for scenario in scenarios
        for index in range(DEFAULT_WORLDS)
    ]
    made = _PlansFile(scoring_version=SCORING_VERSION, plans=tuple(shipped))
    (folder / _FILE).write_text(made.model_dump_json(indent=1, exclude_defaults=True) + "\n", encoding="utf-8")


def _what_matters(config: EpisodeConfig) -> EpisodeConfig:
    """Plans are the same however they are paid or revealed; track and names change the prompt, and so the price."""
    return replace(config, reward_mode=RewardMode.DENSE, reveal=False)


@lru_cache(maxsize=4_096)
def _reference_plan(scenario: Scenario, index: int, config: EpisodeConfig) -> Plan:
    if config == EpisodeConfig():
        for shipped in _shipped():
            if shipped.content_hash == scenario.content_hash and shipped.plan.world_index == index:
                return shipped.plan
    return make_reference_plan(scenario, index, config)


@lru_cache(maxsize=1)
def _shipped() -> tuple[_ShippedPlan, ...]:
    file = shipped_folder() / _FILE
    if not file.is_file():
        return ()
    parsed = _PlansFile.model_validate_json(file.read_bytes())
    return parsed.plans if parsed.scoring_version == SCORING_VERSION else ()
