"""What a choice of sources makes of each phase: who is asked there, what is looked up, what must be brought along."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import ceil

from TokenOptEnv.config import CACHE_MAX_HITS
from TokenOptEnv.plans.bound.sources import Origin, Source
from TokenOptEnv.world import VisibleWorld


@dataclass(frozen=True, slots=True)
class Leg:
    number: int
    last: bool
    asked: tuple[Source, ...]
    right: tuple[Source, ...]
    """Of those asked, whose answers rest on evidence."""
    look_ups: int
    handed_over: int
    """Steps for findings of other questions: a phase ends early only with one for each."""
    restores: int
    restored_tokens: int
    held: tuple[int, ...]
    """Tokens of findings that are kept to the end of the phase."""
    passing: tuple[int, ...]
    """Of findings that only fill a slot."""

    @property
    def least_steps(self) -> int:
        """Besides surfacing: the last is a note or the submission."""
        return self.look_ups + len(self.asked) + self.handed_over + self.restores + 1


def legs_of(choice: Collection[Source], visible: VisibleWorld) -> list[Leg]:
    """Up to the phase in which the last of them is found; there the answer is submitted."""
    choice = sorted(choice, key=lambda source: (source.subtask_id, source.origin.value, source.held_tokens))
    phase_of = {name: number for number, phase in enumerate(visible.phases) for name in phase.subtasks}
    last = max((phase_of[source.subtask_id] for source in choice), default=0)
    return [_leg(choice, number, last, phase_of, visible) for number in range(last + 1)]


def _leg(choice: Collection[Source], number: int, last: int, phase_of: dict[str, int], visible: VisibleWorld) -> Leg:
    here = [source for source in choice if phase_of[source.subtask_id] == number]
    before = [source for source in choice if phase_of[source.subtask_id] < number]
    given = frozenset[str]().union(*(source.gives for source in here))
    wanted = frozenset[str]().union(*(source.wants for source in here))
    brought = [source for source in before if source.answers] if number == last else []
    asked = tuple(source for source in here if source.origin is not Origin.CACHED)
    answered = {source.subtask_id for source in here}
    others = 0 if number == last else len(visible.phases[number].subtasks) - len(answered)
    kept = [source for source in here if source.answers or number < last]
    return Leg(
        number=number,
        last=number == last,
        asked=asked,
        right=tuple(source for source in asked if source.origin is Origin.RIGHT),
        look_ups=ceil((len(here) - len(asked)) / CACHE_MAX_HITS),
        handed_over=ceil(others / CACHE_MAX_HITS),
        restores=1 if brought or (before and wanted - given) else 0,
        restored_tokens=sum(source.saved_tokens for source in brought),
        held=tuple(source.held_tokens for source in kept),
        passing=tuple(source.held_tokens for source in here if source not in kept),
    )
