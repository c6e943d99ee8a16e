"""Plans, made when asked for and kept; those of the core suite and of the packs are shipped."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError

from TokenOptEnv.config import EpisodeConfig, RewardMode
from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.plans.bound import lower_bound
from TokenOptEnv.plans.clairvoyant import make_clairvoyant_plan
from TokenOptEnv.plans.plan import Plan
from TokenOptEnv.plans.reference import make_reference_plan
from TokenOptEnv.plans.stored_plans import StoredPlans, WorldPlans, load_plans
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.scenario_store import plans_json, shipped_folder
from TokenOptEnv.world import ReferenceCosts, world_index

_FILE = "plans.json.gz"


class _PlansFile(Frozen):
    plans: tuple[StoredPlans, ...]


def reference_plan(scenario: Scenario, seed: int, config: EpisodeConfig) -> Plan:
    return _reference_plan(scenario, world_index(seed), _what_matters(config))


def clairvoyant_plan(scenario: Scenario, seed: int, config: EpisodeConfig) -> Plan:
    return _clairvoyant_plan(scenario, world_index(seed), _what_matters(config))


def bound_nano_usd(scenario: Scenario, seed: int, config: EpisodeConfig) -> int:
    return _bound_nano_usd(scenario, world_index(seed), _what_matters(config))


def reference_costs(scenario: Scenario, seed: int, config: EpisodeConfig) -> ReferenceCosts:
    plan = reference_plan(scenario, seed, config)
    return ReferenceCosts(plan.nano_usd, plan.routed_nano_usd)


def ship(plans: Iterable[StoredPlans], folder: Path) -> None:
    """Write the plans of the core suite."""
    made = _PlansFile(plans=tuple(plans)).model_dump_json(exclude_defaults=True)
    (folder / _FILE).write_bytes(gzip.compress(made.encode(), mtime=0))


def _what_matters(config: EpisodeConfig) -> EpisodeConfig:
    """Plans are the same however they are paid or revealed; track and names change the prompt, and so the price."""
    return replace(config, reward_mode=RewardMode.DENSE, reveal=False)


@lru_cache(maxsize=4_096)
def _reference_plan(scenario: Scenario, index: int, config: EpisodeConfig) -> Plan:
    stored = _stored_world(scenario, index, config)
    return stored.reference if stored is not None else make_reference_plan(scenario, index, config)


@lru_cache(maxsize=4_096)
def _clairvoyant_plan(scenario: Scenario, index: int, config: EpisodeConfig) -> Plan:
    stored = _stored_world(scenario, index, config)
    if stored is not None:
        return stored.clairvoyant
    return make_clairvoyant_plan(scenario, index, config, _reference_plan(scenario, index, config))


@lru_cache(maxsize=4_096)
def _bound_nano_usd(scenario: Scenario, index: int, config: EpisodeConfig) -> int:
    stored = _stored_world(scenario, index, config)
    return stored.bound_nano_usd if stored is not None else lower_bound(scenario, index, config)


def _stored_world(scenario: Scenario, index: int, config: EpisodeConfig) -> WorldPlans | None:
    if config != EpisodeConfig():
        return None
    stored = stored_plans(scenario)
    usable = stored is not None and index < len(stored.worlds) and stored.fits(scenario, config)
    return stored.worlds[index] if stored is not None and usable else None


@lru_cache(maxsize=256)
def stored_plans(scenario: Scenario) -> StoredPlans | None:
    """What is shipped with a case of the core suite or of a pack."""
    packed = plans_json(scenario.scenario_id)
    if packed is not None:
        return load_plans(packed, scenario.scenario_id)
    return _shipped().get(scenario.content_hash)


@lru_cache(maxsize=1)
def _shipped() -> dict[str, StoredPlans]:
    """Of the core suite, by the hash of the content they are for."""
    file = shipped_folder() / _FILE
    if not file.is_file():
        return {}
    try:
        parsed = _PlansFile.model_validate_json(gzip.decompress(file.read_bytes()))
    except (OSError, EOFError, zlib.error, ValidationError):
        raise ScenarioInvalid(
            "the plans of the core suite are damaged; install the package again, or rebuild them: camre scenarios build"
        ) from None
    return {plans.content_hash: plans for plans in parsed.plans}
