"""When an earlier result still holds: told by its version, and by its age against what the task says of time."""

from __future__ import annotations

import re

from TokenOptEnv.models import Finding, TokenOptEnvObservation

_CLOCK = re.compile(r"\b([01]?\d|2[0-3]):([0-5]\d)\b")
_LASTING = re.compile(r"\b(\d{1,3}) (hour|day)s?\b")
_HOURS_PER_DAY = 24


def is_current(finding: Finding, observation: TokenOptEnvObservation, most_hours: int) -> bool:
    """From the cache, about a question of this phase, of this very version, and younger than so many hours."""
    asked = any(subtask.subtask_id == finding.subtask_id for subtask in observation.task.subtasks)
    return (
        finding.source == "cache"
        and asked
        and finding.version == observation.task.version
        and finding.age_hours is not None
        and finding.age_hours < most_hours
    )


def hours_unchanged(brief: str) -> int | None:
    """For how long things have been as the brief describes them: what is older was found out about something else.

    A brief says it in hours, or by the time it began and the time it is now.
    """
    if lasting := _LASTING.search(brief):
        return int(lasting[1]) * (_HOURS_PER_DAY if lasting[2] == "day" else 1)
    minutes = [60 * int(hour) + int(minute) for hour, minute in _CLOCK.findall(brief)]
    if len(minutes) < 2:
        return None
    return -(-((minutes[-1] - minutes[0]) % (60 * _HOURS_PER_DAY)) // 60) + 1
