"""Questions and answers: one right reply each, wrong ones that are tempting, and every field within reach."""

from __future__ import annotations

from collections.abc import Iterator

from TokenOptEnv.config import FINDING_CAP_TOKENS, YARDSTICK
from TokenOptEnv.evaluation.faults import Fault
from TokenOptEnv.grading import same_text
from TokenOptEnv.models import FieldKind, Subtask
from TokenOptEnv.scenario import Candidate, Scenario, SubtaskTruth
from TokenOptEnv.simulators import tokens

LEAST_TEMPTING = 2
"""Wrong replies a question must have that rest on decoys."""


def check(scenario: Scenario) -> Iterator[Fault]:
    truths = {truth.subtask_id: truth for truth in scenario.hidden.subtasks}
    for subtask in scenario.public.subtasks:
        truth = truths.get(subtask.subtask_id)
        if truth is None:
            yield _fault(scenario, f"subtask {subtask.subtask_id}", "has no truth", "add its candidates")
            continue
        yield from _candidates(scenario, truth)
        for candidate in truth.candidates:
            yield from _reply(scenario, subtask, candidate)
    yield from _fields(scenario)


def _candidates(scenario: Scenario, truth: SubtaskTruth) -> Iterator[Fault]:
    place = f"subtask {truth.subtask_id}"
    right = [candidate for candidate in truth.candidates if candidate.right]
    if len(right) != 1:
        yield _fault(scenario, place, f"has {len(right)} right candidates", "give it exactly one")
    known = {decoy.decoy_id for decoy in scenario.hidden.decoys}
    for candidate in truth.candidates:
        for decoy_id in candidate.decoy_ids:
            if decoy_id not in known:
                yield _fault(
                    scenario, f"candidate {candidate.candidate_id}", f"rests on no decoy {decoy_id!r}", "add the decoy"
                )
    tempting = [candidate for candidate in truth.candidates if not candidate.right and candidate.decoy_ids]
    if len(tempting) < LEAST_TEMPTING:
        yield _fault(
            scenario,
            place,
            f"has {len(tempting)} wrong candidates that rest on decoys, of at least {LEAST_TEMPTING}",
            "add a plausible wrong reply and what suggests it",
        )
    facts = {fact.fact_id for fact in scenario.hidden.facts}
    for fact_id in truth.needs:
        if fact_id not in facts:
            yield _fault(scenario, place, f"needs no known fact: {fact_id!r}", "add the fact, or drop the need")


def _reply(scenario: Scenario, subtask: Subtask, candidate: Candidate) -> Iterator[Fault]:
    place = f"candidate {candidate.candidate_id}"
    if set(candidate.values) != set(subtask.fields):
        yield _fault(
            scenario, place, f"fills {', '.join(candidate.values)}", f"fill exactly {', '.join(subtask.fields)}"
        )
    values = "; ".join(f"{name}={value}" for name, value in candidate.values.items())
    size = tokens.count(YARDSTICK, f"{values}\n{candidate.text}")
    if size > FINDING_CAP_TOKENS:
        yield _fault(scenario, place, f"takes {size} tokens of {FINDING_CAP_TOKENS}", "say it in fewer words")
    if candidate.right:
        for name, value in candidate.values.items():
            if not _accepted(scenario, name, value):
                yield _fault(
                    scenario, place, f"is right, but {name}={value[:60]!r} is not accepted", "accept it, or correct it"
                )


def _accepted(scenario: Scenario, name: str, value: str) -> bool:
    """Values that only fill a slot are judged with the slots."""
    truth = next((truth for truth in scenario.hidden.fields if truth.name == name), None)
    if truth is None:
        return True
    kinds = {field.name: field.kind for field in scenario.public.answer_fields}
    if kinds.get(name) is FieldKind.PATCH:
        return scenario.hidden.verdicts.get(value, False)
    return any(same_text(value, each) for each in truth.accepted)


def _fields(scenario: Scenario) -> Iterator[Fault]:
    yielded = {name for subtask in scenario.public.subtasks for name in subtask.fields}
    needed = {fact_id for truth in scenario.hidden.subtasks for fact_id in truth.needs}
    truths = {truth.name: truth for truth in scenario.hidden.fields}
    for field in scenario.public.answer_fields:
        place = f"field {field.name}"
        if field.name not in yielded:
            yield _fault(scenario, place, "no subtask yields it", "let one do so")
        if field.name not in truths:
            yield _fault(scenario, place, "has no truth", "say what is accepted")
            continue
        truth = truths[field.name]
        if field.choices and not any(same_text(value, choice) for value in truth.accepted for choice in field.choices):
            yield _fault(scenario, place, "no accepted value is among its choices", "add it to the choices")
        if not truth.path:
            yield _fault(scenario, place, "rests on no fact", "give it a path")
        for fact_id in truth.path:
            if fact_id not in needed:
                yield _fault(
                    scenario, place, f"its path asks for {fact_id!r}, which no subtask needs", "let a subtask need it"
                )


def _fault(scenario: Scenario, place: str, cause: str, remedy: str) -> Fault:
    return Fault(scenario_id=scenario.scenario_id, place=place, cause=cause, remedy=remedy)
