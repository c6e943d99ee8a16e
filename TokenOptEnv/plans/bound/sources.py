"""Which findings can carry a success: every way to have each field answered rightly, and each slot filled for it.

A right answer gives all its fields. A wrong one may give some of them, a lucky one needs no evidence, and an
earlier result gives what it says, stale or not. What must be had is a choice of such sources that covers every field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from TokenOptEnv.config import Track
from TokenOptEnv.grading import accepts
from TokenOptEnv.models import FieldKind, ItemKind, Subtask
from TokenOptEnv.plans.bound.question import Question
from TokenOptEnv.plans.bound.wording import entry_text, held_tokens, saved_tokens
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.world import World

_SLOT = "slot:"


class Origin(Enum):
    RIGHT = "right"
    """Asked, and right because of the evidence."""
    LUCKY = "lucky"
    """Asked, and right on nothing."""
    WRONG = "wrong"
    """Asked, and wrong, but not in everything."""
    CACHED = "cached"


@dataclass(frozen=True, slots=True)
class Source:
    origin: Origin
    subtask_id: str
    gives: frozenset[str]
    """Fields, and `slot:` with the subtask whose slot it fills rightly."""
    wants: frozenset[str]
    """Slots that must be filled rightly for it."""
    pico_usd: int
    """The least call, where that does not depend on the evidence."""
    held_tokens: int
    saved_tokens: int

    @property
    def answers(self) -> bool:
        """Does it give a field? Otherwise it fills a slot, and need not be kept to the end."""
        return any(not name.startswith(_SLOT) for name in self.gives)


class Sources:
    def __init__(self, scenario: Scenario, world: World, questions: Mapping[str, Question]) -> None:
        self._scenario = scenario
        self._world = world
        self._slots = {
            subtask.subtask_id: subtask.slot for subtask in scenario.public.subtasks if subtask.slot is not None
        }
        self._slot_values = {truth.subtask_id: truth.slot_value for truth in scenario.hidden.subtasks}
        self._all = tuple(dict.fromkeys(self._asked(questions))) + tuple(dict.fromkeys(self._cached()))

    def choices(self) -> Iterator[frozenset[Source]]:
        """Every choice of sources that covers the fields and leaves nothing out that it wants."""
        kinds = {field.name: field.kind for field in self._world.visible.public.answer_fields}
        own_words = self._world.visible.config.track is Track.SOLVER
        fields = [name for name, kind in kinds.items() if not own_words or kind is FieldKind.PATCH]
        seen: set[frozenset[Source]] = set()
        stack: list[frozenset[Source]] = [frozenset()]
        while stack:
            chosen = stack.pop()
            if chosen in seen:
                continue
            seen.add(chosen)
            covered = frozenset[str]().union(*(source.gives for source in chosen))
            wanted = [*fields, *sorted(frozenset[str]().union(*(source.wants for source in chosen)))]
            missing = next((name for name in wanted if name not in covered), None)
            if missing is None:
                yield chosen
                continue
            stack += [chosen | {source} for source in self._all if missing in source.gives]

    def _asked(self, questions: Mapping[str, Question]) -> Iterator[Source]:
        card = self._world.visible.controller
        for truth in self._scenario.hidden.subtasks:
            question = questions[truth.subtask_id]
            slot = truth.subtask_id in self._slots
            for candidate in truth.candidates:
                gives = self._gives(truth.subtask_id, candidate.values)
                if not gives:
                    continue
                held, saved = question.held_as(candidate), saved_tokens(candidate.values, card)
                if not candidate.right:
                    least = question.any_pico_usd(candidate)
                    yield Source(Origin.WRONG, truth.subtask_id, gives, frozenset(), least, held, saved)
                    continue
                wants = frozenset({f"{_SLOT}{truth.subtask_id}"}) if slot else frozenset()
                yield Source(Origin.RIGHT, truth.subtask_id, gives, wants, 0, held, saved)
                lucky = question.lucky_pico_usd()
                if lucky is not None and truth.needs:
                    yield Source(Origin.LUCKY, truth.subtask_id, gives, frozenset(), lucky, held, saved)

    def _cached(self) -> Iterator[Source]:
        card = self._world.visible.controller
        for entry in self._scenario.public.cache_entries:
            gives = self._gives(entry.subtask_id, entry.values)
            if gives:
                held = held_tokens([entry_text(entry, self._world.visible)], ItemKind.CACHE, card)
                saved = saved_tokens(entry.values, card)
                yield Source(Origin.CACHED, entry.subtask_id, gives, frozenset(), 0, held, saved)

    def _gives(self, subtask_id: str, values: Mapping[str, str]) -> frozenset[str]:
        fields = {name for name, value in values.items() if accepts(self._scenario, name, value)}
        filled = {
            f"{_SLOT}{name}"
            for name, slot in self._slots.items()
            if slot.from_subtask_id == subtask_id
            and (values.get(slot.name) or "").strip().casefold() == (self._slot_values[name] or "").strip().casefold()
        }
        return frozenset(fields | filled)


def slot_values(scenario: Scenario, subtask: Subtask) -> tuple[str, ...]:
    """What answers and earlier results can have put into its slot; nothing where it has none."""
    slot = subtask.slot
    if slot is None:
        return ()
    said = [
        candidate.values
        for truth in scenario.hidden.subtasks
        if truth.subtask_id == slot.from_subtask_id
        for candidate in truth.candidates
    ]
    said += [entry.values for entry in scenario.public.cache_entries if entry.subtask_id == slot.from_subtask_id]
    return tuple(dict.fromkeys(values[slot.name] for values in said if values.get(slot.name)))
