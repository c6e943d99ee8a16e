"""Which questions of the task can be asked now, how they read with slots filled, and what to search for them by."""

from __future__ import annotations

import re
from collections.abc import Collection

from TokenOptEnv.models import Subtask, TokenOptEnvObservation
from TokenOptEnv.simulators import terms

_WORD = re.compile(r"\w+(?:[.\-/:]\w+)*")
_LAST_SENTENCE = re.compile(r"(?<=[.?] )(?=[A-Z])(?!.*[.?] [A-Z])", re.DOTALL)
_LEAD = re.compile(r"[^:,]*:|[^,]*\s(?=\S+,)")
"""What introduces a list: up to a colon, or to the last word before the first comma."""
_CHOICES = re.compile(r":\s*(?:[^,?:]+,\s*){2,}[^?]*\?")


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


def references(observation: TokenOptEnvObservation) -> dict[str, str]:
    """What stands for a question's words in a query: `?2` for those of the second, `?2-` without what it lists to
    choose from. Whoever is asked which of several it was may not want to find those several.
    """
    found: dict[str, str] = {}
    for number, subtask in enumerate(observation.task.subtasks, start=1):
        asked = wording(observation, subtask)
        found[f"?{number}"] = " ".join(content_words(asked))
        found[f"?{number}-"] = " ".join(content_words(without_choices(asked)))
    return found


def content_words(asked: str) -> list[str]:
    """The words that say something, in their order; compounds stay whole, the search takes them apart itself."""
    words = _WORD.findall(" ".join(_parted(asked)))
    return list(dict.fromkeys(word for word in words if word.lower() not in terms.STOP_WORDS))


def without_hints(asked: str) -> str:
    """What is asked, without the words in which its evidence is written."""
    return _parted(asked)[0]


def without_choices(asked: str) -> str:
    question = without_hints(asked)
    return _CHOICES.sub("?", question) + asked[len(question) :]


def _parted(asked: str) -> tuple[str, str]:
    """A question and the words it hints at: a list in a last sentence of its own, however that is introduced."""
    last = _LAST_SENTENCE.search(asked)
    hints = asked[last.start() :] if last else ""
    if "," not in hints or "?" in hints:
        return asked, ""
    return asked[: -len(hints)], _LEAD.sub("", hints, count=1)
