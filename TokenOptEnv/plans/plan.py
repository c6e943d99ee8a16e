"""A plan: actions that solve one scenario in one world, and what they were seen to cost."""

from __future__ import annotations

from TokenOptEnv.models import ScoreBreakdown, TokenOptEnvAction
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.world import world_index


class Plan(Frozen):
    scenario_id: str
    world_index: int
    actions: tuple[TokenOptEnvAction, ...]
    nano_usd: int
    routed_nano_usd: int


def plan_of(scenario: Scenario, seed: int, actions: tuple[TokenOptEnvAction, ...], score: ScoreBreakdown) -> Plan:
    return Plan(
        scenario_id=scenario.scenario_id,
        world_index=world_index(seed),
        actions=actions,
        nano_usd=score.cost_nano_usd,
        routed_nano_usd=score.routed_nano_usd,
    )
