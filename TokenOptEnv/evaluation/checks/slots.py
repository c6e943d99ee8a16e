"""Slots: a blank in a question is filled by an earlier one, with the value that makes it answerable."""

from __future__ import annotations

import re
from collections.abc import Iterator

from TokenOptEnv.evaluation.faults import Fault
from TokenOptEnv.grading import same_text
from TokenOptEnv.models import Slot, Subtask
from TokenOptEnv.scenario import Scenario, SubtaskTruth

_BLANK = re.compile(r"\{(\w+)\}")


def check(scenario: Scenario) -> Iterator[Fault]:
    truths = {truth.subtask_id: truth for truth in scenario.hidden.subtasks}
    fields = {field.name for field in scenario.public.answer_fields}
    used = {subtask.slot.name for subtask in scenario.public.subtasks if subtask.slot is not None}
    earlier: dict[str, Subtask] = {}
    for subtask in scenario.public.subtasks:
        blanks = tuple(dict.fromkeys(_BLANK.findall(subtask.question)))
        expected = (subtask.slot.name,) if subtask.slot is not None else ()
        if blanks != expected:
            yield _fault(
                scenario,
                subtask,
                f"its question has the blanks {list(blanks)} and its slot is {list(expected)}",
                "let them agree",
            )
        yield from _filled(scenario, subtask, truths, earlier)
        for name in subtask.fields:
            if name not in fields and name not in used:
                yield _fault(scenario, subtask, f"yields {name!r}, which nothing asks for", "drop it, or use it")
        earlier[subtask.subtask_id] = subtask


def _filled(
    scenario: Scenario, subtask: Subtask, truths: dict[str, SubtaskTruth], earlier: dict[str, Subtask]
) -> Iterator[Fault]:
    truth = truths.get(subtask.subtask_id)
    slot = subtask.slot
    if slot is None:
        if truth is not None and truth.slot_value is not None:
            yield _fault(scenario, subtask, "has a slot value and no slot", "add the slot, or drop the value")
        return
    source = earlier.get(slot.from_subtask_id)
    if source is None:
        yield _fault(
            scenario, subtask, f"no earlier subtask {slot.from_subtask_id!r} fills its slot", "put that one before it"
        )
        return
    if slot.name not in source.fields:
        yield _fault(scenario, subtask, f"{source.subtask_id!r} does not yield {slot.name!r}", "add it to its fields")
    given = _right_value(truths.get(source.subtask_id), slot)
    wanted = truth.slot_value if truth is not None else None
    if wanted is None or given is None or not same_text(given, wanted):
        yield _fault(
            scenario, subtask, f"needs {wanted!r} in its slot, and the right reply gives {given!r}", "let them agree"
        )


def _right_value(truth: SubtaskTruth | None, slot: Slot) -> str | None:
    candidates = truth.candidates if truth is not None else ()
    return next((candidate.values.get(slot.name) for candidate in candidates if candidate.right), None)


def _fault(scenario: Scenario, subtask: Subtask, cause: str, remedy: str) -> Fault:
    return Fault(scenario_id=scenario.scenario_id, place=f"subtask {subtask.subtask_id}", cause=cause, remedy=remedy)
