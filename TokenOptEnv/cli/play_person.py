"""A person as a policy: what is typed becomes an action. A slip of the keyboard is told and costs nothing."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from TokenOptEnv.by_hand.choices import Choices, Sightings
from TokenOptEnv.by_hand.menu import ENTRIES, possible, verb
from TokenOptEnv.by_hand.plain_text import clipped, plain
from TokenOptEnv.cli import play_board, play_menu
from TokenOptEnv.cli.play_desk import Desk
from TokenOptEnv.cli.play_fields import Back, Fields
from TokenOptEnv.cli.play_form import Form
from TokenOptEnv.cli.play_terminal import Terminal
from TokenOptEnv.models import ActionType, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.text_actions import parse

_NAMED_BY: Final = {
    "artifact_id": "artifact",
    "subtask_id": "question",
    "model_id": "model",
    "context_segment_ids": "item or segment",
    "finding_ids": "finding",
    "evidence_segment_ids": "segment",
    "checkpoint_id": "note",
    "route_id": "reply of a model",
}
_UNKNOWN: Final = re.compile(r"#(\d+)")
"""What the short form makes of a number that stands for nothing."""


class _Misread(Exception):
    """What was typed is no action; its text says what would be."""


class Person:
    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._sightings = Sightings()

    def act(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        self._sightings.note(observation)
        desk = Desk(self._terminal, observation)
        self._terminal.show(play_menu.page(observation))
        while True:
            line = desk.line("number or action, ? helps> ", play_menu.help_page(observation))
            if line == "brief":
                self._terminal.show(*play_board.opening(observation))
            elif line == "memory":
                self._terminal.show(play_board.memory_bar(observation), play_board.memory_list(observation))
            else:
                try:
                    return self._understood(line, desk)
                except _Misread as fault:
                    desk.complain(str(fault))
                except Back:
                    self._terminal.show(play_menu.page(observation))

    def _understood(self, line: str, desk: Desk) -> TokenOptEnvAction:
        observation = desk.observation
        kinds = possible(observation)
        if re.fullmatch(r"[0-9]{1,6}", line):
            if int(line) not in kinds:
                raise _Misread(f"{line} is not in the menu; it has {', '.join(map(str, kinds))}.")
            return self._form(desk).fill(kinds[int(line)])
        for kind in kinds.values():
            if line.lower() == verb(kind):
                return self._form(desk).fill(kind)
        if not line:
            raise _Misread("Type a number of the menu, an action, or ? for help.")
        action = parse(line, observation)
        _check(action, line, kinds.values())
        return action

    def _form(self, desk: Desk) -> Form:
        return Form(Fields(desk), Choices(desk.observation, self._sightings))


def _check(action: TokenOptEnvAction, line: str, kinds: Collection[ActionType]) -> None:
    """Stop what only a slip explains. What the rules refuse for a reason goes through: it is part of the game."""
    said = clipped(plain(line), 40)
    if action.action_type is ActionType.MALFORMED:
        word = line.partition(" ")[0].rstrip(":").lower()
        meant = next((kind for kind in ENTRIES if verb(kind) == word), None)
        if meant is None:
            raise _Misread(f"{said!r} is no action; type a number of the menu, or one like: {play_menu.EXAMPLE}")
        raise _Misread(f"{said!r} cannot be read; it goes like: {ENTRIES[meant].usage}")
    if action.action_type not in kinds:
        raise _Misread(f"{verb(action.action_type)} is not possible now; the menu shows what is.")
    for name, noun in _NAMED_BY.items():
        given = getattr(action, name)
        for value in (given,) if isinstance(given, str) else given or ():
            if unknown := _UNKNOWN.fullmatch(value):
                raise _Misread(f"No {noun} has the number {unknown[1]} here.")
