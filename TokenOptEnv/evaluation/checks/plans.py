"""The plans, replayed: each solves its world at the cost it states, and none undercuts the bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from TokenOptEnv.config import DEFAULT_WORLDS, EpisodeConfig
from TokenOptEnv.episode_runtime import advance, start
from TokenOptEnv.errors import PlanNotFound, ScenarioInvalid
from TokenOptEnv.evaluation.faults import Fault
from TokenOptEnv.models import ScoreBreakdown, TokenOptEnvAction
from TokenOptEnv.plans import Plan, reference_plan
from TokenOptEnv.plans.plan_store import bound_nano_usd, clairvoyant_plan
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.world import World, build_world

_REBUILD = "rebuild it: camre scenarios build"


def check(scenario: Scenario) -> Iterator[Fault]:
    config = EpisodeConfig()
    for index in range(DEFAULT_WORLDS):
        try:
            reference = reference_plan(scenario, index, config)
            clairvoyant = clairvoyant_plan(scenario, index, config)
            bound = bound_nano_usd(scenario, index, config)
            world = build_world(scenario, index, config)
        except (PlanNotFound, ScenarioInvalid) as fault:
            yield _fault(scenario, index, str(fault), "make the evidence reachable")
            continue
        for name, plan in (("plan", reference), ("clairvoyant plan", clairvoyant)):
            cause = _contradiction(name, plan, replayed(plan.actions, world))
            if cause is not None:
                yield _fault(scenario, index, cause, _REBUILD)
        if not bound <= clairvoyant.nano_usd <= reference.nano_usd:
            costs = f"{bound}, {clairvoyant.nano_usd} and {reference.nano_usd} nano-dollars"
            yield _fault(scenario, index, f"bound, clairvoyant and reference are not in order: {costs}", _REBUILD)


def _contradiction(name: str, plan: Plan, score: ScoreBreakdown | None) -> str | None:
    if score is None or not score.success:
        return f"the {name} does not solve it"
    if (score.cost_nano_usd, score.routed_nano_usd) != (plan.nano_usd, plan.routed_nano_usd):
        return f"the {name} states {plan.nano_usd} nano-dollars and costs {score.cost_nano_usd}"
    return None


def replayed(actions: Sequence[TokenOptEnvAction], world: World) -> ScoreBreakdown | None:
    """The score these actions end with; None where they do not end, or go on after the end."""
    outcome = start(world, "replay")
    for action in actions:
        if outcome.state.end is not None:
            return None
        outcome = advance(outcome.state, action, world)
    return outcome.score


def _fault(scenario: Scenario, index: int, cause: str, remedy: str) -> Fault:
    return Fault(scenario_id=scenario.scenario_id, place=f"world {index}", cause=cause, remedy=remedy)
