"""The reference plan: it knows where the facts are and what is true, but not the draws.

Which model to ask, and which next when that one is wrong, follows from expected odds alone: the order of least
expected price until right. The program around it is the one that costs least in a few *dreams*: worlds drawn like any
other, and never played.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.episode_state import ContextPiece
from TokenOptEnv.errors import PlanNotFound
from TokenOptEnv.models import ActionType
from TokenOptEnv.plans.attempts import order_attempts
from TokenOptEnv.plans.foresight import play_with_foresight
from TokenOptEnv.plans.kit import Kit, kit_of
from TokenOptEnv.plans.plan import Plan, plan_of
from TokenOptEnv.plans.planner import Planner
from TokenOptEnv.plans.program import Program
from TokenOptEnv.plans.stage import Played, Stage
from TokenOptEnv.plans.ways import Inquiry, Wish, ways_to
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.simulators.routing import SimulatedBackend
from TokenOptEnv.world import World, build_world, world_index

_DREAMS: Final = range(1_000, 1_004)
_HASTE: Final = (1, 10, 100)
"""Where the steps do not suffice for the cheapest order, each is worth so many times more."""
_MOST_TRIED: Final = 4


def make_reference_plan(scenario: Scenario, seed: int, config: EpisodeConfig) -> Plan:
    """The first program of the expected order that solves this world.

    What is tried does not depend on the world; how far one gets with it does. Where the steps of the world suffice for
    none, whom to ask is looked up: a yardstick there must be, and the dearest worlds should not be without one.
    """
    kit = kit_of(scenario, config)
    world = build_world(scenario, seed, config)
    return _plan(scenario, seed, _expected(scenario, world, kit) or play_with_foresight(world, kit))


def make_plan_without(scenario: Scenario, seed: int, config: EpisodeConfig, forbidden: frozenset[ActionType]) -> Plan:
    """The same without these actions, and without looking anything up: what they are worth is what it costs more."""
    kit = kit_of(scenario, config, forbidden)
    return _plan(scenario, seed, _expected(scenario, build_world(scenario, seed, config), kit))


def _plan(scenario: Scenario, seed: int, played: Played | None) -> Plan:
    if played is None or played.score is None or not played.solved:
        raise PlanNotFound(f"no plan solves {scenario.scenario_id!r} in world {world_index(seed)}")
    return plan_of(scenario, seed, played.actions, played.score)


def _expected(scenario: Scenario, world: World, kit: Kit) -> Played | None:
    stage = Stage(world, kit.escalates)
    played = (stage.play(program) for program in expected_programs(scenario, kit))
    return next((each for each in played if each.solved), None)


def expected_programs(scenario: Scenario, kit: Kit) -> Iterator[Program]:
    """What the reference tries, in its order."""
    for haste in _HASTE:
        yield from _programs(scenario, kit, haste)


@lru_cache(maxsize=64)
def _programs(scenario: Scenario, kit: Kit, haste: int) -> list[Program]:
    """The same for every world: they know no draw but those of the dreams."""
    config = kit.visible.config
    menu = scenario.public.menus[config.catalog]
    dreams = [SimulatedBackend(scenario, number, config.catalog, menu) for number in _DREAMS]
    stages = [Stage(build_world(scenario, 0, config, backend=dream), kit.escalates) for dream in dreams]
    asking = _ExpectedOdds(scenario, kit, haste * kit.rates.step)
    ways = {name: ways_to(name, kit, asking) for phase in kit.visible.phases for name in phase.subtasks}
    return Planner(kit, ways, stages).ranked()[:_MOST_TRIED]


class _ExpectedOdds:
    """Hands over every needed fact, and orders the models by what they are expected to do with it."""

    def __init__(self, scenario: Scenario, kit: Kit, decision_nano_usd: int) -> None:
        self._scenario = scenario
        self._kit = kit
        self._decision_nano_usd = decision_nano_usd

    def wishes(self, subtask_id: str) -> list[Wish]:
        knowledge = self._kit.knowledge
        needs, decisive = knowledge.truths[subtask_id].needs, knowledge.decisive[subtask_id]
        return [Wish(frozenset(needs), frozenset(decisive), squeezed=True)]

    def inquiries(self, subtask_id: str, pieces: tuple[ContextPiece, ...]) -> list[Inquiry]:
        truth = self._kit.knowledge.truths[subtask_id]
        kit = self._kit
        return order_attempts(self._scenario, kit.visible, truth, pieces, self._decision_nano_usd, kit.goes_up)
