"""A task, as the task API lists it: what to pass to `reset`, and nothing of the content."""

from __future__ import annotations

from TokenOptEnv import scenario_store
from TokenOptEnv.models.base import Frozen

_MOST_LISTED = 10_000


class Task(Frozen):
    split: str
    index: int
    scenario_id: str


def task_at(split: str, index: int) -> Task:
    return Task(split=split, index=index, scenario_id=scenario_store.at(split, index))


def tasks_between(split: str, start: int | None, stop: int | None) -> list[Task]:
    """With the bounds of a Python slice; of a split without end, the first of them."""
    places = range(scenario_store.size(split))[start:stop][:_MOST_LISTED]
    return [task_at(split, place) for place in places]
