"""A generated case in numbers: what data cards and galleries count."""

from __future__ import annotations

from TokenOptEnv.config import YARDSTICK, Difficulty
from TokenOptEnv.models import ArtifactKind
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.scenario_store.splits import Case
from TokenOptEnv.simulators.log_lines import masked
from TokenOptEnv.task_defs.generation import outline

_PRINTED = (ArtifactKind.LOG, ArtifactKind.TEST_REPORT, ArtifactKind.TRACE, ArtifactKind.METRICS)


class CaseProfile(Frozen):
    scenario_id: str
    family: str
    difficulty: Difficulty
    no_fault: bool
    tokens: int
    artifacts: int
    segments: int
    questions: int
    facts: int
    decoys: int
    templates: int
    """Different lines of its logs and reports, with numbers and ids masked."""
    slot: bool
    wide: bool
    """One question's facts stand in more segments than four handles reach."""
    valid_cache: bool
    phases: int


def profile(case: Case, scenario: Scenario) -> CaseProfile:
    public, hidden = scenario.public, scenario.hidden
    asked = outline(case.family, case.difficulty, case.number)
    lines = {
        masked(line)
        for artifact in public.artifacts
        if artifact.kind in _PRINTED
        for segment in artifact.segments
        for line in segment.text.splitlines()
    }
    return CaseProfile(
        scenario_id=public.scenario_id,
        family=public.family,
        difficulty=public.difficulty,
        no_fault=asked.no_fault,
        tokens=sum(public.segment_tokens[YARDSTICK]),
        artifacts=len(public.artifacts),
        segments=sum(len(artifact.segments) for artifact in public.artifacts),
        questions=len(public.subtasks),
        facts=len(hidden.facts),
        decoys=len(hidden.decoys),
        templates=len(lines),
        slot=any(subtask.slot is not None for subtask in public.subtasks),
        wide=asked.wide_facts is not None,
        valid_cache=any(validity == "valid" for validity in hidden.cache.values()),
        phases=len(public.phases),
    )
