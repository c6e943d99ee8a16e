"""The reference plan, replayed: it solves every world, at the cost it states."""

from __future__ import annotations

from collections.abc import Iterator

from TokenOptEnv.config import DEFAULT_WORLDS, EpisodeConfig
from TokenOptEnv.episode_runtime import advance, start
from TokenOptEnv.errors import PlanNotFound, ScenarioInvalid
from TokenOptEnv.evaluation.faults import Fault
from TokenOptEnv.models import ScoreBreakdown
from TokenOptEnv.plans import Plan, reference_plan
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.world import World, build_world

_REBUILD = "rebuild it: camre scenarios build"


def check(scenario: Scenario) -> Iterator[Fault]:
    config = EpisodeConfig()
    for index in range(DEFAULT_WORLDS):
        place = f"world {index}"
        try:
            plan = reference_plan(scenario, index, config)
            score = _replayed(plan, build_world(scenario, index, config))
        except (PlanNotFound, ScenarioInvalid) as fault:
            yield Fault(
                scenario_id=scenario.scenario_id, place=place, cause=str(fault), remedy="make the evidence reachable"
            )
            continue
        if score is None or not score.success:
            yield Fault(
                scenario_id=scenario.scenario_id, place=place, cause="the plan does not solve it", remedy=_REBUILD
            )
        elif (score.cost_nano_usd, score.routed_nano_usd) != (plan.nano_usd, plan.routed_nano_usd):
            yield Fault(
                scenario_id=scenario.scenario_id,
                place=place,
                cause=f"the plan states {plan.nano_usd} nano-dollars and costs {score.cost_nano_usd}",
                remedy=_REBUILD,
            )


def _replayed(plan: Plan, world: World) -> ScoreBreakdown | None:
    outcome = start(world, "replay")
    for action in plan.actions:
        if outcome.state.end is not None:
            return None
        outcome = advance(outcome.state, action, world)
    return outcome.score
