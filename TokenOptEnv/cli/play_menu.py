"""The menu: every action that is possible now, with the verb of its short form."""

from __future__ import annotations

from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from TokenOptEnv.by_hand.menu import ENTRIES, possible, verb
from TokenOptEnv.cli.play_board import grid
from TokenOptEnv.config import Track
from TokenOptEnv.models import TokenOptEnvObservation

EXAMPLE: Final = "find pool exhausted k4"


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
