"""Earlier results: one that cannot be trusted, one that can where there is to be one, and a difference to be seen.

A designed case always has a valid one. A generated case has one exactly when its outline says so: were there always
one, looking would always pay. An imported case has one where there is more than one question.
"""

from __future__ import annotations

from collections.abc import Iterator

from TokenOptEnv.evaluation.faults import Fault
from TokenOptEnv.scenario import CacheEntry, CacheValidity, Scenario
from TokenOptEnv.scenario_store.imported import is_imported
from TokenOptEnv.scenario_store.splits import case_named
from TokenOptEnv.task_defs.generation import outline


def check(scenario: Scenario) -> Iterator[Fault]:
    entries = scenario.public.cache_entries
    validity = scenario.hidden.cache
    valid = [entry for entry in entries if validity.get(entry.entry_id) is CacheValidity.VALID]
    outdated = [entry for entry in entries if entry not in valid]
    if not valid and _wants_valid(scenario):
        yield _fault(scenario, "cache", "has no valid entry", "add one of this version")
    if valid and not _wants_valid(scenario):
        yield _fault(scenario, "cache", "has a valid entry, and is to have none", "leave it out")
    if not outdated:
        yield _fault(scenario, "cache", "has no stale and no wrong-version entry", "add one to be told apart")
    for entry in entries:
        yield from _entry(scenario, entry)
    for entry in valid:
        if entry.version != scenario.public.version:
            yield _fault(
                scenario,
                f"cache entry {entry.entry_id}",
                f"is valid, and of version {entry.version!r}",
                f"make it of version {scenario.public.version!r}",
            )
    oldest = max((entry.age_hours for entry in valid), default=0)
    for entry in outdated:
        if entry.version == scenario.public.version and entry.age_hours <= oldest:
            yield _fault(
                scenario,
                f"cache entry {entry.entry_id}",
                "cannot be told from a valid one by version or age",
                f"give it another version, or an age above {oldest} hours",
            )


def _wants_valid(scenario: Scenario) -> bool:
    if is_imported(scenario.scenario_id):
        return len(scenario.public.subtasks) > 1
    case = case_named(scenario.scenario_id)
    return case is None or outline(case.family, case.difficulty, case.number).valid_cache


def _entry(scenario: Scenario, entry: CacheEntry) -> Iterator[Fault]:
    place = f"cache entry {entry.entry_id}"
    if entry.entry_id not in scenario.hidden.cache:
        yield _fault(scenario, place, "nothing says whether it is valid", "say so")
    if entry.subtask_id not in {subtask.subtask_id for subtask in scenario.public.subtasks}:
        yield _fault(scenario, place, f"answers no subtask: {entry.subtask_id!r}", "name a subtask of the task")
    known = {segment.segment_id for artifact in scenario.public.artifacts for segment in artifact.segments}
    for cite in entry.cites:
        if cite not in known:
            yield _fault(scenario, place, f"cites no segment: {cite!r}", "cite a segment of the task")


def _fault(scenario: Scenario, place: str, cause: str, remedy: str) -> Fault:
    return Fault(scenario_id=scenario.scenario_id, place=place, cause=cause, remedy=remedy)
