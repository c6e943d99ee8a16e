"""The menu: every action that is possible now, with the verb of its short form."""

from __future__ import annotations

from typing import Final, NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from TokenOptEnv.cli.play_board import grid
from TokenOptEnv.config import Track
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

EXAMPLE: Final = "find pool exhausted k4"
_NO_NUMBERS: Final = Numbering({}, [], [], {}, {}, {}, [])


def verb(kind: ActionType) -> str:
    """The word that its short form begins with."""
    return write(TokenOptEnvAction(action_type=kind), _NO_NUMBERS).split(maxsplit=1)[0]


def possible(observation: TokenOptEnvObservation) -> dict[int, ActionType]:
    """By number: what can be done now."""
    legal = [each.action_type for each in observation.legal_actions.actions]
    return {number: kind for number, kind in enumerate(ENTRIES, start=1) if kind in legal}


def page(observation: TokenOptEnvObservation) -> RenderableType:
    """In two columns, counted downwards."""
    kinds = possible(observation)
    lines = [f"{number:>2} {verb(kind):<8} {ENTRIES[kind].does}" for number, kind in kinds.items()]
    half = (len(lines) + 1) // 2
    columns = Table.grid(padding=(0, 3))
    for left, right in zip(lines[:half], [*lines[half:], ""], strict=False):
        columns.add_row(left, right)
    return Group("", columns)


def help_page(observation: TokenOptEnvObservation) -> RenderableType:
    forms = grid("left")
    for kind in possible(observation).values():
        forms.add_row(ENTRIES[kind].usage, ENTRIES[kind].does)
    if observation.task.track is Track.SOLVER:
        forms.add_row("submit N N..: field=value; ..", "answer in your own words; N shows it")
    free = grid("left")
    for word, does in (
        ("brief", "the task, its artifacts and its models again"),
        ("memory", "what is held, a line each"),
        ("show N", "the text of item N"),
        ("?", "this page; within an action, what is asked"),
        ("q", "leave; nothing is graded"),
    ):
        free.add_row(word, does)
    return Group(
        Text("Type the number of an action and choose step by step, or type it in one line:", style="bold"),
        forms,
        Text(
            "A: artifact, Q: question, M: model, C: note, by their numbers in the brief; N: items and segments,"
            f" which share one count; kN: at most N hits. For example: {EXAMPLE}"
        ),
        Text("Free of charge:", style="bold"),
        free,
        Text("Everything you hold is paid for again at every step; what follows a change is read afresh."),
    )
