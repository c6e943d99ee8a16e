"""A task, as the task API lists it: what to pass to `reset`, and nothing of the content."""

from __future__ import annotations

from TokenOptEnv import scenario_store
from TokenOptEnv.models.base import Frozen


class Task(Frozen):
    split: str
    index: int
    scenario_id: str


def task_at(split: str, index: int) -> Task:
    return Task(split=split, index=index, scenario_id=scenario_store.at(split, index))


def tasks_between(split: str, start: int | None, stop: int | None) -> list[Task]:
    """With the bounds of a Python slice."""
    names = scenario_store.ids(split)
    return [Task(split=split, index=place, scenario_id=names[place]) for place in range(len(names))[start:stop]]
