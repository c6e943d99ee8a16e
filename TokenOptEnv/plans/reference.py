"""The reference plan: it knows where the facts are and what is true, but not the draws.

Which model to ask, and which next when that one is wrong, follows from expected odds alone: the order of
least expected price until right.
"""

from __future__ import annotations

from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.errors import PlanNotFound
from TokenOptEnv.plans.attempts import order_attempts
from TokenOptEnv.plans.knowledge import Knowledge, know
from TokenOptEnv.plans.plan import Plan, plan_of
from TokenOptEnv.plans.planner import Asking, Planner
from TokenOptEnv.plans.program import Played
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.world import World, build_world, world_index

_DECISION_NANO_USD = 100_000
"""What one more decision of the controller costs, roughly; only the order of attempts depends on it."""
_HASTE = (1, 10, 100)
"""Where the steps do not suffice for the cheapest order, each is worth so many times more."""


def make_reference_plan(scenario: Scenario, seed: int, config: EpisodeConfig) -> Plan:
    world = build_world(scenario, seed, config)
    knowledge = know(scenario, world.visible)
    plans = (_played(scenario, world, knowledge, haste * _DECISION_NANO_USD) for haste in _HASTE)
    best = next((plan for plan in plans if plan is not None), None)
    if best is None or best.score is None:
        raise PlanNotFound(f"no plan solves {scenario.scenario_id!r} in world {world_index(seed)}")
    return plan_of(scenario, seed, best.actions, best.score)


def _played(scenario: Scenario, world: World, knowledge: Knowledge, decision_nano_usd: int) -> Played | None:
    def asking(subtask_id: str) -> list[Asking]:
        needed = knowledge.needed[subtask_id]
        attempts = order_attempts(scenario, world.visible, knowledge.truths[subtask_id], needed, decision_nano_usd)
        return [Asking(needed, attempts)]

    return Planner(world, knowledge, asking).best()
