"""The reference plan: it knows where the facts are and what is true, but not the draws.

Which model to ask, and which next when that one is wrong, follows from expected odds alone: the order of
least expected price until right.
"""

from __future__ import annotations

from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.episode_state import ContextPiece
from TokenOptEnv.errors import PlanNotFound
from TokenOptEnv.plans.attempts import order_attempts
from TokenOptEnv.plans.knowledge import Knowledge, know
from TokenOptEnv.plans.plan import Plan, plan_of
from TokenOptEnv.plans.planner import Attempts, Planner
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
    best: Played | None = None
    for haste in _HASTE:
        best = Planner(world, knowledge, _ExpectedOdds(scenario, world, knowledge, haste * _DECISION_NANO_USD)).best()
        if best is not None:
            break
    if best is None or best.score is None:
        raise PlanNotFound(f"no plan solves {scenario.scenario_id!r} in world {world_index(seed)}")
    return plan_of(scenario, seed, best.actions, best.score)


class _ExpectedOdds:
    """Hands over every needed fact, and orders the models by what they are expected to do with it."""

    def __init__(self, scenario: Scenario, world: World, knowledge: Knowledge, decision_nano_usd: int) -> None:
        self._scenario = scenario
        self._world = world
        self._knowledge = knowledge
        self._decision_nano_usd = decision_nano_usd

    def contexts(self, subtask_id: str) -> list[tuple[str, ...]]:
        return [self._knowledge.needed[subtask_id]]

    def orders(self, subtask_id: str, pieces: tuple[ContextPiece, ...]) -> list[Attempts]:
        truth = self._knowledge.truths[subtask_id]
        return [order_attempts(self._scenario, self._world.visible, truth, pieces, self._decision_nano_usd)]
