"""Plans with a few actions dropped, doubled, swapped or asked otherwise: one that still solves undercuts no bound.

The bound is computed without the planner and claims to hold for every way of playing. Nothing proves that but
trying: neighbours of good plans are where a way below it would be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from TokenOptEnv.config import DEFAULT_WORLDS, SEARCH_MAX_TOP_K, EpisodeConfig
from TokenOptEnv.errors import PlanNotFound
from TokenOptEnv.evaluation.checks.plans import replayed
from TokenOptEnv.evaluation.faults import Fault
from TokenOptEnv.models import Effort, TokenOptEnvAction
from TokenOptEnv.plans import reference_plan
from TokenOptEnv.plans.plan_store import bound_nano_usd, clairvoyant_plan
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.streams import Stream
from TokenOptEnv.world import build_world

_MOST_CHANGES = 3


def check(scenario: Scenario, count: int) -> Iterator[Fault]:
    """`count` mutated plans, of every world and of both kinds in turn."""
    config = EpisodeConfig()
    menu = scenario.public.menus[config.catalog]
    for number in range(count):
        index, make = number % DEFAULT_WORLDS, (reference_plan, clairvoyant_plan)[number // DEFAULT_WORLDS % 2]
        try:
            plan = make(scenario, index, config)
        except PlanNotFound:
            continue
        actions = mutated(plan.actions, menu, Stream("mutation", scenario.scenario_id, number))
        score = replayed(actions, build_world(scenario, index, config))
        bound = bound_nano_usd(scenario, index, config)
        if score is not None and score.success and score.cost_nano_usd < bound:
            yield Fault(
                scenario_id=scenario.scenario_id,
                place=f"world {index}, mutation {number}",
                cause=f"solved for {score.cost_nano_usd} nano-dollars, below the bound of {bound}",
                remedy="the bound is wrong: find what it charges and this does not pay",
            )


def mutated(actions: Sequence[TokenOptEnvAction], menu: Sequence[str], draw: Stream) -> tuple[TokenOptEnvAction, ...]:
    """One to three changes; the submission at the end stays, or nothing could succeed."""
    *steps, submission = actions
    for _ in range(draw.integer(1, _MOST_CHANGES)):
        if not steps:
            break
        place = draw.integer(0, len(steps) - 1)
        match draw.integer(0, 3):
            case 0:
                del steps[place]
            case 1:
                steps.insert(place, steps[place])
            case 2:
                steps[place - 1], steps[place] = steps[place], steps[place - 1]
            case _:
                steps[place] = _otherwise(steps[place], menu, draw)
    return (*steps, submission)


def _otherwise(action: TokenOptEnvAction, menu: Sequence[str], draw: Stream) -> TokenOptEnvAction:
    """The same kind of action, asked of somebody else, with other effort, on less, or for more or fewer hits."""
    changes: list[dict[str, object]] = []
    if action.model_id is not None:
        changes.append({"model_id": draw.choice(menu)})
        changes.append({"effort": draw.choice(tuple(Effort)).value})
    if action.context_segment_ids:
        changes.append({"context_segment_ids": action.context_segment_ids[1:]})
    if action.query is not None:
        changes.append({"query": " ".join(action.query.split()[1:])})
        changes.append({"top_k": draw.integer(1, SEARCH_MAX_TOP_K)})
    return action.model_copy(update=draw.choice(changes)) if changes else action
