"""What kinds of paper there are, what each is good for, and which a question calls for."""

from __future__ import annotations

import re

from TokenOptEnv.models import ArtifactHandle, ArtifactKind, MemoryItem, Subtask, TokenOptEnvObservation
from TokenOptEnv.policies import errands
from TokenOptEnv.simulators import terms

LOGS = (ArtifactKind.LOG, ArtifactKind.TRACE, ArtifactKind.TEST_REPORT)
"""What software wrote while it failed."""
_HEARSAY = (ArtifactKind.TICKET, ArtifactKind.CHAT)
"""What people guessed."""
_CHANGE_WORDS = "set off trigger change changed commit culprit began deploy rel"
_ADVICE_WORDS = "next done remediation action restore left"
_CALLED_FOR_BY = {
    ArtifactKind.HISTORY: frozenset(_CHANGE_WORDS.split()),
    ArtifactKind.RUNBOOK: frozenset(_ADVICE_WORDS.split()),
}
_PAGING = "call now on-call open page paged say still utc"
_PAGING_WORDS = frozenset(_PAGING.split())
ABOUT_ALL = tuple(_CALLED_FOR_BY)
"""Papers that speak of everybody: what was changed, then what to do about it."""
_CLOCK = re.compile(r"\d{1,2}:\d\d(?::\d\d)?")


def called_for(observation: TokenOptEnvObservation, subtask: Subtask) -> tuple[ArtifactHandle, ...]:
    """The lists of changes and runbooks that a question asks about, in so many words or by its fields."""
    fields = {field.name: field.question for field in observation.task.answer_fields}
    asked = [subtask.question, *subtask.fields, *(fields.get(name, "") for name in subtask.fields)]
    words = set(terms.terms(" ".join(asked)))
    return tuple(
        artifact
        for artifact in observation.artifacts
        if artifact.kind in _CALLED_FOR_BY and words.intersection(_CALLED_FOR_BY[artifact.kind])
    )


def place_words(observation: TokenOptEnvObservation) -> tuple[str, ...]:
    """Where and when, as the brief tells it: the words of it that no question, field or title repeats."""
    asked = [subtask.question for subtask in observation.task.subtasks]
    asked += [f"{field.name} {field.question}" for field in observation.task.answer_fields]
    asked += [
        artifact.title for artifact in observation.artifacts if artifact.kind in (*_HEARSAY, ArtifactKind.RUNBOOK)
    ]
    known = {*terms.terms(" ".join(asked)), *_PAGING_WORDS}
    brief = terms.distinct(observation.task.brief)
    return tuple(word for word in brief if word not in known and not _CLOCK.fullmatch(word))


def is_first_hand(observation: TokenOptEnvObservation, segment_id: str) -> bool:
    """Of one thing that happened or was built; neither talk nor a paper about everything."""
    artifact = errands.artifact_of(observation, segment_id)
    return artifact is not None and artifact.kind not in _HEARSAY and artifact.kind not in _CALLED_FOR_BY


def is_paper(observation: TokenOptEnvObservation, item: MemoryItem) -> bool:
    """Does it hold papers about everything, whole or squeezed?"""
    found = (errands.artifact_of(observation, name) for name in item.source_ids)
    return all(artifact is not None and artifact.kind in _CALLED_FOR_BY for artifact in found)


def is_log(observation: TokenOptEnvObservation, segment_id: str) -> bool:
    artifact = errands.artifact_of(observation, segment_id)
    return artifact is not None and artifact.kind in LOGS
