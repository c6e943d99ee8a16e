"""Every action, in the words of a menu, and which of them are possible now."""

from __future__ import annotations

from typing import Final, NamedTuple

from TokenOptEnv.models import ActionType, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.text_actions import Numbering, write


class Entry(NamedTuple):
    does: str
    usage: str


ENTRIES: Final = {
    ActionType.READ_ARTIFACT: Entry("open an artifact", "read A [page]"),
    ActionType.SEARCH_ARTIFACTS: Entry("search all artifacts", "find words [kN]"),
    ActionType.QUERY_CACHE: Entry("look for earlier results", "cache words"),
    ActionType.HYDRATE_SEGMENTS: Entry("load segments into memory", "load N N.."),
    ActionType.COMPRESS_CONTEXT: Entry("shorten items in memory", "squeeze N N.. method [ratio][: words]"),
    ActionType.PURGE_MEMORY: Entry("drop items from memory", "drop N N.."),
    ActionType.ROUTE_SUBTASK: Entry("put a question to a model", "ask Q M N N.. [effort]"),
    ActionType.ESCALATE_ROUTE: Entry("ask a stronger model", "up N [M] [effort]"),
    ActionType.WRITE_CHECKPOINT: Entry("save a note", "note N N..: text"),
    ActionType.RESTORE_CHECKPOINT: Entry("bring a note back", "recall C"),
    ActionType.SUBMIT_ANSWER: Entry("answer, and end", "submit N N.. [with N N..]"),
}
"""In the order of the menu: look, hold, ask, keep, answer. An action keeps its number, possible or not."""

_NO_NUMBERS: Final = Numbering({}, [], [], {}, {}, {}, [])


def verb(kind: ActionType) -> str:
    """The word that its short form begins with."""
    return write(TokenOptEnvAction(action_type=kind), _NO_NUMBERS).split(maxsplit=1)[0]


def possible(observation: TokenOptEnvObservation) -> dict[int, ActionType]:
    """By number: what can be done now."""
    legal = [each.action_type for each in observation.legal_actions.actions]
    return {number: kind for number, kind in enumerate(ENTRIES, start=1) if kind in legal}
