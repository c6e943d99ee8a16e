"""One field of an action, asked for until what is typed can be used. A slip is one line, and asked again."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from TokenOptEnv.by_hand.choices import Choice
from TokenOptEnv.by_hand.plain_text import clipped, plain
from TokenOptEnv.cli.play_board import grid
from TokenOptEnv.cli.play_desk import Desk
from TokenOptEnv.config import TEXT_CAP_CHARACTERS

_BACK: Final = ("b", "back")
_SEPARATORS: Final = re.compile(r"[\s,]+")
_WHOLE: Final = re.compile(r"[0-9]{1,6}")
_SHARE: Final = re.compile(r"0?\.[0-9]{1,4}|1(\.0{1,4})?")
_ASIDE: Final = "b goes back to the menu, q leaves, show N prints an item; nothing is billed before you finish."


class Back(Exception):
    """The person thought better of this action."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Where there is a `default`, Enter takes it; the environment then fills it in."""

    desk: Desk

    def one(self, title: str, choices: Sequence[Choice]) -> str:
        self._offer(title, choices)
        while True:
            picked = self._picked(self._line("number", "Type the number of one line."), choices)
            if picked is not None:
                return picked

    def optional_one(self, title: str, choices: Sequence[Choice], default: str) -> str | None:
        self._offer(title, choices)
        while line := self._line(_prompt("number", default), "Type the number of one line."):
            picked = self._picked(line, choices)
            if picked is not None:
                return picked
        return None

    def many(
        self,
        title: str,
        choices: Sequence[Choice],
        default: str | None = None,
        fault: Callable[[Sequence[str]], str | None] = lambda chosen: None,
    ) -> tuple[str, ...]:
        """In the order typed: it is the order in which a model reads them."""
        self._offer(title, choices)
        while True:
            line = self._line(_prompt("numbers", default), "Type one or more numbers, like: 1 3 4.")
            words = [word for word in _SEPARATORS.split(line) if word]
            if not words and default is not None:
                return ()
            named = {word: _named(word, choices) for word in words}
            wrong = next((word for word, value in named.items() if value is None), None)
            chosen = tuple(dict.fromkeys(value for value in named.values() if value is not None))
            if not words:
                self.desk.complain("Type at least one of the numbers, or b to go back.")
            elif wrong is not None:
                self.desk.complain(f"{_quoted(wrong)} is none of these; type numbers, like: 1 3 4")
            elif complaint := fault(chosen):
                self.desk.complain(complaint)
            else:
                return chosen

    def text(self, title: str) -> str:
        while True:
            line = self._short_line(title)
            if line:
                return line
            self.desk.complain("Type at least one word, or b to go back.")

    def optional_text(self, title: str, default: str) -> str | None:
        return self._short_line(_prompt(title, default)) or None

    def whole(self, title: str, most: int, default: str) -> int | None:
        while line := self._line(_prompt(title, default), f"Type a number from 1 to {most}."):
            if _WHOLE.fullmatch(line) and 1 <= int(line) <= most:
                return int(line)
            self.desk.complain(f"{_quoted(line)} is not a number from 1 to {most}.")
        return None

    def share(self, title: str, default: str) -> float | None:
        while line := self._line(_prompt(title, default), "Type a share above 0 and at most 1, like 0.3."):
            if _SHARE.fullmatch(line) and float(line) > 0:
                return float(line)
            self.desk.complain(f"{_quoted(line)} is not a share above 0 and at most 1, like 0.3.")
        return None

    def yes(self, title: str) -> bool:
        return self._line(f"{title} y or n", "Type y or n.").lower() in ("y", "yes")

    def _line(self, prompt: str, help_text: str) -> str:
        line = self.desk.line(f"{prompt}> ", Text(f"{help_text} {_ASIDE}"))
        if line in _BACK:
            raise Back
        return line

    def _short_line(self, prompt: str) -> str:
        while True:
            line = self._line(prompt, "Type it in one line.")
            if len(line) <= TEXT_CAP_CHARACTERS:
                return line
            self.desk.complain(f"That is {len(line):,} characters; at most {TEXT_CAP_CHARACTERS:,} are taken.")

    def _offer(self, title: str, choices: Sequence[Choice]) -> None:
        listed = grid("right")
        for choice in choices:
            listed.add_row(choice.key, choice.label)
        self.desk.terminal.show(Text(title, style="bold"), listed)

    def _picked(self, line: str, choices: Sequence[Choice]) -> str | None:
        picked = _named(line, choices)
        if picked is None:
            self.desk.complain(f"{_quoted(line)} is none of these; type one of their numbers, or b to go back.")
        return picked


def _prompt(title: str, default: str | None) -> str:
    return title if default is None else f"{title} (Enter: {default})"


def _quoted(text: str) -> str:
    return repr(clipped(plain(text), 40))


def _named(word: str, choices: Sequence[Choice]) -> str | None:
    """By number, with or without its `#`, or by the name itself."""
    by_number = {choice.key: choice.value for choice in choices}
    by_name = {choice.value: choice.value for choice in choices}
    return by_number.get(word.removeprefix("#").lower()) or by_name.get(word)
