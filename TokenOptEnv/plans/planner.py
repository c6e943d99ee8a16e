"""The search for a cheap program, the same for every plan: only what and whom to ask differs.

Likely combinations of ways come first, by their rough cost; the best of them is then changed in small ways.
Everything is judged by playing it in the engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import islice, permutations

from TokenOptEnv.config import SEARCH_MAX_TOP_K
from TokenOptEnv.models import ActionType
from TokenOptEnv.plans.kit import Kit
from TokenOptEnv.plans.program import Ask, Drop, Load, Operation, Program, Read, Restore, Save, Search, Squeeze
from TokenOptEnv.plans.stage import Stage
from TokenOptEnv.plans.surfacing import Steps
from TokenOptEnv.plans.ways import Way

_MOST_COMBINATIONS = 200
_PATIENCE = 12
"""So many combinations in a row without a better one, once there is one at all."""
_MOST_ORDERS = 24
_NEVER = 10**18
"""Rough cost of what cannot be had."""
_COVERS = 4
_MOST_STEPS = 2_000


@dataclass(frozen=True, order=True)
class Verdict:
    """The fewer worlds it fails in the better, then the cheaper."""

    unsolved: int
    nano_usd: int


@dataclass(frozen=True)
class _Sketch:
    ways: tuple[tuple[str, Way], ...]
    """By subtask, those that are needed."""
    orders: tuple[tuple[str, ...], ...]
    """By phase."""
    at_once: bool = True
    """Surface everything of a phase first, or each answer's evidence when its turn comes."""
    cover: int = 0
    """Which of the surfacer's proposals."""


class Planner:
    def __init__(self, kit: Kit, ways: dict[str, list[Way]], stages: list[Stage]) -> None:
        self._kit = kit
        self._ways = ways
        self._stages = stages
        self._judged: dict[Program, Verdict] = {}
        self._best: tuple[Verdict, Program] | None = None
        self._led: list[Program] = []

    def ranked(self, seeds: Iterable[Program] = ()) -> list[Program]:
        """The programs that were the best so far when they were found, the best first; none where none solves any."""
        sketch = self._best_sketch()
        if sketch is not None:
            self._climb_sketch(sketch)
            self._climb()
        for program in seeds:
            if self._try(program):
                self._climb()
        return self._led[::-1]

    def _best_sketch(self) -> _Sketch | None:
        chosen: _Sketch | None = None
        tried = since = 0
        for sketch in islice(self._combinations(), _MOST_COMBINATIONS):
            program = self._compiled(sketch)
            if program is None:
                continue
            better = self._try(program)
            tried += 1
            if better:
                chosen, since = sketch, 0
            else:
                since += 1
            if self._tired or (chosen is not None and since >= _PATIENCE):
                break
        return chosen

    def _climb_sketch(self, sketch: _Sketch) -> None:
        improved = True
        while improved and not self._tired:
            improved = False
            for variant in self._variants(sketch):
                program = self._compiled(variant)
                if program is not None and self._try(program):
                    sketch, improved = variant, True
                    break

    def _climb(self) -> None:
        improved = True
        while improved and not self._tired:
            improved = False
            assert self._best is not None
            for program in self._neighbours(self._best[1]):
                if self._try(program):
                    improved = True
                    break

    @property
    def _tired(self) -> bool:
        return sum(stage.played_steps for stage in self._stages) > _MOST_STEPS * len(self._stages)

    def _try(self, program: Program) -> bool:
        """Play it, unless it was played before; tells whether it is the best so far."""
        if program in self._judged:
            return False
        verdict = self._verdict(program)
        self._judged[program] = verdict
        if verdict.unsolved == len(self._stages) or (self._best is not None and verdict >= self._best[0]):
            return False
        self._best = (verdict, program)
        self._led.append(program)
        return True

    def _verdict(self, program: Program) -> Verdict:
        unsolved = spent = 0
        for stage in self._stages:
            below = None
            if self._best is not None and self._best[0].unsolved <= unsolved:
                below = self._best[0].nano_usd - spent
            played = stage.play(program, below)
            if played.solved:
                spent += played.nano_usd
            else:
                unsolved += 1
            if self._best is not None and (unsolved, spent) > (self._best[0].unsolved, self._best[0].nano_usd):
                return Verdict(len(self._stages), 0)
        return Verdict(unsolved, spent)

    def _combinations(self) -> Iterator[_Sketch]:
        """One way for each question that must be answered, in order of their rough cost together."""
        names = list(self._ways)
        start = (0,) * len(names)
        queue = [(0, start)]
        seen = {start}
        told: set[_Sketch] = set()
        while queue:
            _, places = heappop(queue)
            ways = self._chosen(dict(zip(names, places, strict=True)))
            sketch = None if ways is None else self._sketched(ways)
            if sketch is not None and sketch not in told:
                told.add(sketch)
                yield sketch
            for number, name in enumerate(names):
                further = (*places[:number], places[number] + 1, *places[number + 1 :])
                if further[number] < len(self._ways[name]) and further not in seen:
                    seen.add(further)
                    heappush(queue, (self._rough(dict(zip(names, further, strict=True))), further))

    def _rough(self, places: dict[str, int]) -> int:
        ways = self._chosen(places)
        return _NEVER if ways is None else sum(way.rough_nano_usd for way in ways.values())

    def _chosen(self, places: dict[str, int]) -> dict[str, Way] | None:
        """The way to each question that must be answered; None where one of them has no way at all."""
        required = self._required(places)
        if not all(self._ways[name] for name in required):
            return None
        return {name: self._ways[name][places[name]] for name in required}

    def _sketched(self, ways: dict[str, Way]) -> _Sketch:
        orders = tuple(next(self._orders(number, ways)) for number in range(len(self._kit.visible.phases)))
        return _Sketch(tuple(ways.items()), orders)

    def _required(self, places: dict[str, int]) -> list[str]:
        """Questions that give a field, or fill a slot of one that is asked; all of a phase that must be handed over."""
        phases = self._kit.visible.phases
        fields = {field.name for field in self._kit.visible.public.answer_fields}
        subtasks = {name: subtask for phase in phases for name, subtask in phase.subtasks.items()}
        needed = {
            name
            for number, phase in enumerate(phases)
            for name, subtask in phase.subtasks.items()
            if fields.intersection(subtask.fields) or number < len(phases) - 1
        }
        stack = list(needed)
        while stack:
            name = stack.pop()
            slot = subtasks[name].slot
            if slot is None or not self._ways[name] or self._ways[name][places[name]].adopted is not None:
                continue
            if slot.from_subtask_id not in needed:
                needed.add(slot.from_subtask_id)
                stack.append(slot.from_subtask_id)
        return [name for name in self._ways if name in needed]

    def _orders(self, number: int, ways: dict[str, Way]) -> Iterator[tuple[str, ...]]:
        """Orders of a phase's questions in which each slot is filled before it is needed; what is adopted first."""
        subtasks = self._kit.visible.phases[number].subtasks
        names = sorted((name for name in subtasks if name in ways), key=lambda name: ways[name].adopted is None)
        for order in permutations(names):
            places = {subtask_id: place for place, subtask_id in enumerate(order)}
            slots = (
                (subtask_id, subtasks[subtask_id].slot) for subtask_id in order if ways[subtask_id].adopted is None
            )
            if all(
                slot is None or places.get(slot.from_subtask_id, -1) < places[subtask_id] for subtask_id, slot in slots
            ):
                yield order

    def _variants(self, sketch: _Sketch) -> Iterator[_Sketch]:
        for cover in range(_COVERS):
            yield replace(sketch, cover=cover)
        yield replace(sketch, at_once=not sketch.at_once)
        for number in range(len(sketch.orders)):
            for order in islice(self._orders(number, dict(sketch.ways)), _MOST_ORDERS):
                yield replace(sketch, orders=(*sketch.orders[:number], order, *sketch.orders[number + 1 :]))
        for place, (name, _) in enumerate(sketch.ways):
            for way in self._ways[name]:
                yield replace(sketch, ways=(*sketch.ways[:place], (name, way), *sketch.ways[place + 1 :]))

    def _compiled(self, sketch: _Sketch) -> Program | None:
        """None where no searches quote all that is to be quoted."""
        ways = dict(sketch.ways)
        program: list[Operation] = []
        last = len(sketch.orders) - 1
        keeps = ActionType.WRITE_CHECKPOINT in self._kit.tools
        for number, order in enumerate(sketch.orders):
            if keeps and number > 0 and (number == last or self._looks_back(number)):
                program.append(Restore())
            chosen = [ways[name] for name in order]
            cited = {name for way in chosen for name in way.adopted or ()}
            if sketch.at_once:
                wanted = [name for way in chosen for name in way.surface if name not in cited]
                cover = self._cover(number, wanted, [text for way in chosen for text in way.glimpses], sketch.cover)
                if cover is None:
                    return None
                program += cover
            shown = set[str]()
            for way in chosen:
                if not sketch.at_once:
                    missing = [name for name in way.surface if name not in shown]
                    cover = self._cover(number, missing, list(way.glimpses), sketch.cover)
                    if cover is None:
                        return None
                    program += cover
                shown.update(way.surface, way.adopted or ())
                program += way.operations
            if keeps and number < last:
                program.append(Save())
        return tuple(program)

    def _cover(self, number: int, names: list[str], texts: list[str], choice: int) -> Steps | None:
        covers = self._kit.surfacers[number].covers(names, texts)
        return covers[min(choice, len(covers) - 1)] if covers else None

    def _looks_back(self, number: int) -> bool:
        phase = self._kit.visible.phases[number]
        slots = (subtask.slot for subtask in phase.subtasks.values())
        return any(slot is not None and slot.from_subtask_id not in phase.subtasks for slot in slots)

    def _neighbours(self, program: Program) -> Iterator[Program]:
        """Small changes: a purge more or less, a load less, another order of a context or of two operations."""
        if ActionType.PURGE_MEMORY in self._kit.tools:
            for place in range(1, len(program)):
                if isinstance(program[place - 1], Ask | Search | Read | Squeeze):
                    yield (*program[:place], Drop(), *program[place:])
        yield from self._fuller(program)
        for place, operation in enumerate(program):
            if isinstance(operation, Drop | Load):
                yield (*program[:place], *program[place + 1 :])
            if isinstance(operation, Ask):
                for shift in range(1, min(4, len(operation.context_ids))):
                    turned = operation.context_ids[shift:] + operation.context_ids[:shift]
                    yield (*program[:place], replace(operation, context_ids=turned), *program[place + 1 :])
        for place in range(len(program) - 1):
            yield (*program[:place], program[place + 1], program[place], *program[place + 2 :])

    def _fuller(self, program: Program) -> Iterator[Program]:
        """More in memory than is needed: a prompt that is long enough is cached, and every later one costs a tenth."""
        for place, operation in enumerate(program):
            if isinstance(operation, Search) and operation.top_k < SEARCH_MAX_TOP_K:
                yield (*program[:place], replace(operation, top_k=SEARCH_MAX_TOP_K), *program[place + 1 :])
        if len(self._kit.visible.phases) > 1:
            return
        for artifact_id in self._kit.visible.phases[0].small_artifacts:
            yield (Read(artifact_id, 1), *program)
        if ActionType.HYDRATE_SEGMENTS in self._kit.tools:
            for place, operation in enumerate(program):
                if isinstance(operation, Ask):
                    for segment_id in operation.context_ids:
                        yield (*program[:place], Load((segment_id,)), *program[place:])
                    if len(operation.context_ids) > 1:
                        yield (*program[:place], Load(operation.context_ids), *program[place:])
