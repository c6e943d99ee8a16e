"""The plans of one scenario under the default options, as they are shipped with it.

They are made once, when a suite is built, because making them takes seconds and every score is measured against
them. A reader is handed them only for what they were made for: the same content, the same scoring and catalog.
"""

from __future__ import annotations

from pydantic import ValidationError

from TokenOptEnv.catalog import load_catalog
from TokenOptEnv.config import DEFAULT_WORLDS, EpisodeConfig
from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.plans.bound import lower_bound
from TokenOptEnv.plans.clairvoyant import make_clairvoyant_plan
from TokenOptEnv.plans.plan import Plan
from TokenOptEnv.plans.reference import make_reference_plan
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.version import SCORING_VERSION


class WorldPlans(Frozen):
    """What one world costs: at least, with foresight, and by the yardstick of scores."""

    reference: Plan
    clairvoyant: Plan
    bound_nano_usd: int


class StoredPlans(Frozen):
    content_hash: str
    scoring_version: int
    catalog: str
    catalog_version: str
    controller_model: str
    worlds: tuple[WorldPlans, ...]
    """By world index."""

    def fits(self, scenario: Scenario, config: EpisodeConfig) -> bool:
        """Were they made for this, and would they be made the same today?"""
        return (
            self.content_hash == scenario.content_hash
            and self.scoring_version == SCORING_VERSION
            and self.catalog_version == load_catalog(self.catalog).stamp.version
            and config == EpisodeConfig(catalog=self.catalog, controller_model=self.controller_model)
        )


def make_stored_plans(scenario: Scenario) -> StoredPlans:
    config = EpisodeConfig()
    return StoredPlans(
        content_hash=scenario.content_hash,
        scoring_version=SCORING_VERSION,
        catalog=config.catalog,
        catalog_version=load_catalog(config.catalog).stamp.version,
        controller_model=config.controller_model,
        worlds=tuple(_world_plans(scenario, index, config) for index in range(DEFAULT_WORLDS)),
    )


def _world_plans(scenario: Scenario, index: int, config: EpisodeConfig) -> WorldPlans:
    reference = make_reference_plan(scenario, index, config)
    return WorldPlans(
        reference=reference,
        clairvoyant=make_clairvoyant_plan(scenario, index, config, reference),
        bound_nano_usd=lower_bound(scenario, index, config),
    )


def dump_plans(plans: StoredPlans) -> bytes:
    return plans.model_dump_json(exclude_defaults=True).encode()


def load_plans(data: bytes, name: str) -> StoredPlans:
    """Read what `dump_plans` wrote; `name` is for the error."""
    try:
        return StoredPlans.model_validate_json(data)
    except ValidationError as fault:
        reason = str(fault).splitlines()[0]
        raise ScenarioInvalid(f"plans of {name!r} cannot be read: {reason}; rebuild: camre scenarios build") from None
