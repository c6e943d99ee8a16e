"""The search for a cheap program, the same for every plan: only whom to ask differs.

First the plain choices (what to surface when, which way to each answer, in which order), then small
changes to the program itself. Everything is judged by playing it in the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, permutations
from typing import Protocol, TypeAlias

from TokenOptEnv.episode_state import ContextPiece
from TokenOptEnv.models import Effort
from TokenOptEnv.plans.knowledge import Knowledge
from TokenOptEnv.plans.packing import handovers
from TokenOptEnv.plans.program import (
    Adopt,
    Ask,
    Do,
    Drop,
    Load,
    Operation,
    Played,
    Program,
    Restore,
    Save,
    Squeeze,
    play,
)
from TokenOptEnv.plans.surfacing import Surfacer
from TokenOptEnv.world import World

_MOST_REPLAYS = 240
_MOST_ORDERS = 24
_MOST_KEPT = 24

Attempts: TypeAlias = tuple[tuple[str, Effort], ...]


class Asking(Protocol):
    """Whom to ask: what tells one kind of plan from another."""

    def contexts(self, subtask_id: str) -> list[tuple[str, ...]]:
        """Sets of segments that may be handed over."""

    def orders(self, subtask_id: str, pieces: tuple[ContextPiece, ...]) -> list[Attempts]:
        """Whom to ask when this is what they read, one after the other until one is right."""


@dataclass(frozen=True)
class Way:
    """One way to an answer: what must be surfaced for it, and what is then done."""

    surface: tuple[str, ...]
    operations: tuple[Operation, ...]


@dataclass(frozen=True)
class _Sketch:
    """The plain choices, phase by phase."""

    orders: tuple[tuple[str, ...], ...]
    ways: tuple[tuple[str, int], ...]
    """By subtask: which of its ways."""
    at_once: bool
    """Surface everything of a phase first, or each answer's evidence when its turn comes."""
    cover: int
    """Which of the surfacer's proposals."""


class Planner:
    def __init__(self, world: World, knowledge: Knowledge, asking: Asking) -> None:
        self._world = world
        self._knowledge = knowledge
        self._replays = 0
        self._solved: list[tuple[int, int, Program]] = []
        """Cost, order of discovery, program."""
        visible = world.visible
        self._surfacers = [Surfacer(phase, visible.config.profile) for phase in visible.phases]
        self._ways = {
            subtask_id: self._ways_to(subtask_id, asking) for phase in visible.phases for subtask_id in phase.subtasks
        }

    def ranked(self) -> list[Program]:
        """The programs that solve the case here, the cheapest first."""
        best = self._improved_sketch()
        improved = best is not None
        while improved and self._replays < _MOST_REPLAYS:
            improved = False
            assert best is not None
            for program in _neighbours(best[0]):
                played = self._play(program)
                if played.solved and played.nano_usd < best[1].nano_usd:
                    best, improved = (program, played), True
                    break
                if self._replays >= _MOST_REPLAYS:
                    break
        return [program for _, _, program in sorted(self._solved, key=lambda each: each[:2])[:_MOST_KEPT]]

    def _improved_sketch(self) -> tuple[Program, Played] | None:
        orders = [tuple(islice(self._orders(number), _MOST_ORDERS)) for number in range(len(self._surfacers))]
        best: tuple[Program, Played] | None = None
        first = _Sketch(tuple(each[0] for each in orders), tuple((name, 0) for name in self._ways), False, 0)
        queue = [first]
        tried = {first}
        while queue and self._replays < _MOST_REPLAYS // 2:
            sketch = queue.pop(0)
            program = self._compiled(sketch)
            played = self._play(program)
            better = played.solved and (best is None or played.nano_usd < best[1].nano_usd)
            if better:
                best = (program, played)
                queue = []
            if better or best is None:
                fresh = [each for each in self._variants(sketch, orders) if each not in tried]
                queue += fresh
                tried.update(fresh)
        return best

    def _variants(self, sketch: _Sketch, orders: list[tuple[tuple[str, ...], ...]]) -> Iterator[_Sketch]:
        yield _Sketch(sketch.orders, sketch.ways, not sketch.at_once, sketch.cover)
        for cover in range(3):
            yield _Sketch(sketch.orders, sketch.ways, sketch.at_once, cover)
        chosen = dict(sketch.ways)
        for subtask_id, ways in self._ways.items():
            for place in range(len(ways)):
                changed = tuple({**chosen, subtask_id: place}.items())
                yield _Sketch(sketch.orders, changed, sketch.at_once, sketch.cover)
        for number, allowed in enumerate(orders):
            for order in allowed:
                changed_orders = (*sketch.orders[:number], order, *sketch.orders[number + 1 :])
                yield _Sketch(changed_orders, sketch.ways, sketch.at_once, sketch.cover)

    def _play(self, program: Program) -> Played:
        self._replays += 1
        played = play(program, self._world)
        if played.solved:
            self._solved.append((played.nano_usd, self._replays, program))
        return played

    def _compiled(self, sketch: _Sketch) -> Program:
        chosen = dict(sketch.ways)
        program: list[Operation] = []
        last = len(sketch.orders) - 1
        for number, order in enumerate(sketch.orders):
            if number > 0 and (number == last or self._looks_back(number)):
                program.append(Restore())
            shown: set[str] = set()
            parts: list[Operation] = []
            for subtask_id in order:
                way = self._ways[subtask_id][chosen[subtask_id]]
                if not sketch.at_once:
                    missing = [name for name in way.surface if name not in shown]
                    parts += self._cover(number, missing, sketch.cover)
                shown.update(way.surface)
                parts += way.operations
            if sketch.at_once:
                program += self._cover(number, list(shown), sketch.cover)
            program += parts
            if number < last:
                program.append(Save())
        return tuple(program)

    def _cover(self, number: int, names: list[str], choice: int) -> tuple[Do, ...]:
        covers = self._surfacers[number].covers(sorted(names))
        return covers[min(choice, len(covers) - 1)]

    def _looks_back(self, number: int) -> bool:
        phase = self._world.visible.phases[number]
        slots = (subtask.slot for subtask in phase.subtasks.values())
        return any(slot is not None and slot.from_subtask_id not in phase.subtasks for slot in slots)

    def _ways_to(self, subtask_id: str, asking: Asking) -> list[Way]:
        ways: list[Way] = []
        for segment_ids in asking.contexts(subtask_id):
            for handover in handovers(segment_ids, self._knowledge, self._world.visible):
                for attempts in asking.orders(subtask_id, handover.pieces):
                    ask = Ask(subtask_id, attempts, segment_ids)
                    ways.append(Way(segment_ids, (*handover.operations, ask)))
        entry = self._knowledge.valid_entries.get(subtask_id)
        if entry is not None:
            adopt = Adopt(subtask_id, entry.entry_id, entry.question)
            ways.append(Way((), (adopt, Load(entry.cites)) if self._knowledge.path[subtask_id] else (adopt,)))
        return ways

    def _orders(self, number: int) -> Iterator[tuple[str, ...]]:
        """Orders of a phase's questions in which each slot is filled before it is needed."""
        subtasks = self._world.visible.phases[number].subtasks
        for order in permutations(subtasks):
            places = {subtask_id: place for place, subtask_id in enumerate(order)}
            slots = ((subtask_id, subtasks[subtask_id].slot) for subtask_id in order)
            if all(
                slot is None or places.get(slot.from_subtask_id, -1) < places[subtask_id] for subtask_id, slot in slots
            ):
                yield order


def _neighbours(program: Program) -> Iterator[Program]:
    """Small changes: a purge more or less, a load less, another order of a context or of two operations."""
    for place in range(1, len(program)):
        if isinstance(program[place - 1], Ask | Do | Squeeze):
            yield (*program[:place], Drop(), *program[place:])
    for place, operation in enumerate(program):
        if isinstance(operation, Drop | Load):
            yield (*program[:place], *program[place + 1 :])
        if isinstance(operation, Ask):
            for shift in range(1, min(4, len(operation.context_ids))):
                turned = operation.context_ids[shift:] + operation.context_ids[:shift]
                yield (*program[:place], Ask(operation.subtask_id, operation.attempts, turned), *program[place + 1 :])
    for place in range(len(program) - 1):
        yield (*program[:place], program[place + 1], program[place], *program[place + 2 :])
