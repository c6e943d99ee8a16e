"""Plays the checked reference plan: what a case costs when one knows where the facts are and what is true."""

from __future__ import annotations

from collections.abc import Iterator

from TokenOptEnv import scenario_store
from TokenOptEnv.catalog import CATALOGS, load_catalog
from TokenOptEnv.config import SIZES, EpisodeConfig
from TokenOptEnv.errors import UnknownName
from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.plans import reference_plan
from TokenOptEnv.policies.base import PolicyInfo
from TokenOptEnv.policies.submission import submit


class Reference:
    def __init__(self, seed: int) -> None:
        self._left: Iterator[TokenOptEnvAction] | None = None

    def act(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        if self._left is None:
            self._left = iter(_plan(observation))
        return next(self._left, None) or submit(observation)


def _plan(observation: TokenOptEnvObservation) -> tuple[TokenOptEnvAction, ...]:
    config = _config(observation)
    scenario = scenario_store.load(observation.task.scenario_id)
    plan = reference_plan(scenario, observation.seed, config)
    shown = [card.model_id for card in observation.models]
    names = dict(zip(scenario.public.menus[config.catalog], shown, strict=True))
    return tuple(
        action if action.model_id is None else action.model_copy(update={"model_id": names[action.model_id]})
        for action in plan.actions
    )


def _config(observation: TokenOptEnvObservation) -> EpisodeConfig:
    """The options that a plan depends on, read back from the stamp."""
    stamp, task = observation.stamp, observation.task
    catalog = next((name for name in CATALOGS if load_catalog(name).stamp.version == stamp.catalog_version), None)
    if catalog is None:
        raise UnknownName("catalog version", stamp.catalog_version, CATALOGS, "camre catalog show")
    own_memory = stamp.memory_tokens != SIZES[task.difficulty].memory_tokens
    return EpisodeConfig(
        profile=task.profile,
        track=task.track,
        catalog=catalog,
        controller_model=stamp.controller_model,
        memory_tokens=stamp.memory_tokens if own_memory else None,
    )


POLICY = PolicyInfo("reference", "the checked plan of a planner that knows the truth", Reference, knows_truth=True)
