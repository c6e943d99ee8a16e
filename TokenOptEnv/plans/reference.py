"""The reference plan: it knows where the facts are and what is true, but not the draws.

Which model to ask, and which next when that one is wrong, follows from expected odds alone: the order of
least expected price until right. How to surface, hold and drop is then improved by playing variants in
the engine and keeping what is cheaper.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

from TokenOptEnv.config import ROUTE_MAX_HANDLES, EpisodeConfig
from TokenOptEnv.errors import PlanNotFound
from TokenOptEnv.plans.attempts import order_attempts
from TokenOptEnv.plans.plan import Plan
from TokenOptEnv.plans.program import Ask, Drop, Load, Operation, Played, Program, play
from TokenOptEnv.plans.surfacing import Surfacer
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.world import World, build_world, world_index

_MOST_REPLAYS = 240
_DECISION_NANO_USD = 100_000
"""What one more decision of the controller costs, roughly; only the order of attempts depends on it."""
_HASTE = (1, 10, 100)
"""Where the steps do not suffice for the cheapest order, each is worth so many times more."""


def make_reference_plan(scenario: Scenario, seed: int, config: EpisodeConfig) -> Plan:
    world = build_world(scenario, seed, config)
    plans = (_best(_Planner(scenario, world, haste * _DECISION_NANO_USD)) for haste in _HASTE)
    best = next((plan for plan in plans if plan is not None), None)
    if best is None or best.score is None:
        raise PlanNotFound(f"no plan solves {scenario.scenario_id!r} in world {world_index(seed)}")
    return Plan(
        scenario_id=scenario.scenario_id,
        world_index=world_index(seed),
        actions=best.actions,
        nano_usd=best.score.cost_nano_usd,
        routed_nano_usd=best.score.routed_nano_usd,
    )


class _Planner:
    def __init__(self, scenario: Scenario, world: World, decision_nano_usd: int) -> None:
        self.world = world
        self.replays = 0
        self.needed = _needed_segments(scenario, world)
        self.attempts = {
            truth.subtask_id: order_attempts(
                scenario, world.visible, truth, self.needed[truth.subtask_id], decision_nano_usd
            )
            for truth in scenario.hidden.subtasks
        }

    def play(self, program: Program) -> Played:
        self.replays += 1
        return play(program, self.world)

    def ask(self, subtask_id: str) -> tuple[Operation, ...]:
        """Hand over by handle what may be, and load the rest."""
        segment_ids = self.needed[subtask_id]
        most = ROUTE_MAX_HANDLES[self.world.visible.config.profile]
        ask = Ask(subtask_id, self.attempts[subtask_id], segment_ids)
        excess = len(segment_ids) - most
        if excess <= 0:
            return (ask,)
        tokens = {view.segment_id: view.tokens for view in self.world.visible.phases[0].segments.values()}
        small = sorted(segment_ids, key=lambda segment_id: tokens[segment_id])
        return (Load(tuple(small[:excess])), ask)


def _best(planner: _Planner) -> Played | None:
    """Start from the cheapest of the plain programs, then improve it step by step."""
    best: tuple[Program, Played] | None = None
    for program in _starts(planner):
        played = planner.play(program)
        if played.solved and (best is None or played.nano_usd < best[1].nano_usd):
            best = (program, played)
        if planner.replays >= _MOST_REPLAYS // 2:
            break
    if best is None:
        return None
    improved = True
    while improved and planner.replays < _MOST_REPLAYS:
        improved = False
        for program in _neighbours(best[0]):
            played = planner.play(program)
            if played.solved and played.nano_usd < best[1].nano_usd:
                best = (program, played)
                improved = True
                break
            if planner.replays >= _MOST_REPLAYS:
                break
    return best[1]


def _starts(planner: _Planner) -> Iterator[Program]:
    """Surface everything at once, or each question's evidence when it is asked; in every allowed order."""
    visible = planner.world.visible
    surfacer = Surfacer(visible.phases[0], visible.config.profile)
    for order in _orders(planner):
        everything = tuple(dict.fromkeys(name for subtask_id in order for name in planner.needed[subtask_id]))
        asks = tuple(operation for subtask_id in order for operation in planner.ask(subtask_id))
        for cover in surfacer.covers(everything):
            yield (*cover, *asks)
    for order in _orders(planner):
        shown: set[str] = set()
        per_subtask: list[list[tuple[Operation, ...]]] = []
        for subtask_id in order:
            missing = [name for name in planner.needed[subtask_id] if name not in shown]
            shown.update(missing)
            covers = surfacer.covers(missing)
            per_subtask.append([(*cover, *planner.ask(subtask_id)) for cover in covers])
        for parts in product(*per_subtask):
            yield tuple(operation for part in parts for operation in part)


def _orders(planner: _Planner) -> list[tuple[str, ...]]:
    """Orders of the questions in which each slot is filled before it is needed."""
    subtasks = planner.world.visible.phases[0].subtasks
    allowed = []
    for order in permutations(subtasks):
        places = {subtask_id: place for place, subtask_id in enumerate(order)}
        slots = ((subtask_id, subtasks[subtask_id].slot) for subtask_id in order)
        if all(slot is None or places[slot.from_subtask_id] < places[subtask_id] for subtask_id, slot in slots):
            allowed.append(order)
    return allowed


def _neighbours(program: Program) -> Iterator[Program]:
    for place in range(1, len(program)):
        if isinstance(program[place - 1], Ask):
            yield (*program[:place], Drop(), *program[place:])
    for place, operation in enumerate(program):
        if isinstance(operation, Drop | Load):
            yield (*program[:place], *program[place + 1 :])
        if isinstance(operation, Ask):
            for shift in range(1, len(operation.context_ids)):
                turned = operation.context_ids[shift:] + operation.context_ids[:shift]
                yield (*program[:place], Ask(operation.subtask_id, operation.attempts, turned), *program[place + 1 :])
    for place in range(len(program) - 1):
        yield (*program[:place], program[place + 1], program[place], *program[place + 2 :])


def _needed_segments(scenario: Scenario, world: World) -> dict[str, tuple[str, ...]]:
    """By subtask: a small set of segments that shows every needed fact, shared between subtasks where possible."""
    facts = {fact.fact_id: fact for fact in scenario.hidden.facts}
    tokens = {view.segment_id: view.tokens for view in world.visible.phases[0].segments.values()}
    misleading = {place.segment_id for decoy in scenario.hidden.decoys for place in decoy.places}
    used: set[str] = set()
    needed: dict[str, tuple[str, ...]] = {}
    for truth in scenario.hidden.subtasks:
        left = list(truth.needs)
        chosen: list[str] = []
        while left:
            shows: dict[str, int] = {}
            for fact_id in left:
                for segment_id in dict.fromkeys(place.segment_id for place in facts[fact_id].places):
                    shows[segment_id] = shows.get(segment_id, 0) + 1
            pick = min(
                shows,
                key=lambda name: (-shows[name], name in misleading, name not in used, tokens[name], name),
            )
            chosen.append(pick)
            left = [fact_id for fact_id in left if all(place.segment_id != pick for place in facts[fact_id].places)]
        used.update(chosen)
        needed[truth.subtask_id] = tuple(chosen)
    return needed
