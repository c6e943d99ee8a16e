"""The reference plan: it knows where the facts are and what is true, but not the draws.

Which model to ask, and which next when that one is wrong, follows from expected odds alone: the order of
least expected price until right.
"""

from __future__ import annotations

from functools import lru_cache

from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.episode_state import ContextPiece
from TokenOptEnv.errors import PlanNotFound
from TokenOptEnv.plans.attempts import order_attempts
from TokenOptEnv.plans.knowledge import Knowledge, know
from TokenOptEnv.plans.plan import Plan, plan_of
from TokenOptEnv.plans.planner import Attempts, Planner
from TokenOptEnv.plans.program import Program, play
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.simulators.routing import TypicalBackend
from TokenOptEnv.world import World, build_world, world_index

_DECISION_NANO_USD = 100_000
"""What one more decision of the controller costs, roughly; only the order of attempts depends on it."""
_HASTE = (1, 10, 100)
"""Where the steps do not suffice for the cheapest order, each is worth so many times more."""


def make_reference_plan(scenario: Scenario, seed: int, config: EpisodeConfig) -> Plan:
    """The first program of the expected order that solves this world.

    What is tried does not depend on the world; how far one gets with it does.
    """
    world = build_world(scenario, seed, config)
    for haste in _HASTE:
        for program in _programs(scenario, config, haste):
            played = play(program, world)
            if played.solved and played.score is not None:
                return plan_of(scenario, seed, played.actions, played.score)
    raise PlanNotFound(f"no plan solves {scenario.scenario_id!r} in world {world_index(seed)}")


@lru_cache(maxsize=256)
def _programs(scenario: Scenario, config: EpisodeConfig, haste: int) -> list[Program]:
    """Chosen in the typical world, so that they are the same for every world and know no draw."""
    backend = TypicalBackend(scenario, config.catalog, scenario.public.menus[config.catalog])
    world = build_world(scenario, 0, config, backend=backend)
    knowledge = know(scenario, world.visible)
    asking = _ExpectedOdds(scenario, world, knowledge, haste * _DECISION_NANO_USD)
    return Planner(world, knowledge, asking).ranked()


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
