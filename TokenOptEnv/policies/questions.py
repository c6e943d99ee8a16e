"""Which questions of the task can be asked now, and how they read with their slots filled."""

from __future__ import annotations

from collections.abc import Collection

from TokenOptEnv.models import Subtask, TokenOptEnvObservation


def askable(observation: TokenOptEnvObservation, done: Collection[str]) -> tuple[Subtask, ...]:
    """Those not done whose slot is filled, in the order of the task: what a later one needs is asked first."""
    return tuple(
        subtask
        for subtask in observation.task.subtasks
        if subtask.subtask_id not in done and (subtask.slot is None or _slot_value(observation, subtask))
    )


def still_open(observation: TokenOptEnvObservation, done: Collection[str]) -> int:
    """How many may still be asked in this phase, those that wait for a slot included."""
    return sum(subtask.subtask_id not in done for subtask in observation.task.subtasks)


def wording(observation: TokenOptEnvObservation, subtask: Subtask) -> str:
    value = _slot_value(observation, subtask)
    if subtask.slot is None or value is None:
        return subtask.question
    return subtask.question.replace("{" + subtask.slot.name + "}", value)


def _slot_value(observation: TokenOptEnvObservation, subtask: Subtask) -> str | None:
    """What the environment will put there: the latest finding held that has it."""
    slot = subtask.slot
    if slot is None:
        return None
    values = (
        finding.values.get(slot.name)
        for finding in reversed(observation.findings)
        if finding.subtask_id == slot.from_subtask_id
    )
    return next(filter(None, values), None)
