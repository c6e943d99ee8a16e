"""What a person may ask for at any prompt, without it costing anything: help, the text of an item, to leave."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from TokenOptEnv.cli import play_board
from TokenOptEnv.cli.play_terminal import Left, Terminal
from TokenOptEnv.models import TokenOptEnvObservation

_SHOW = re.compile(r"show\s+#?(\d{1,5})")


@dataclass(frozen=True, slots=True)
class Desk:
    terminal: Terminal
    observation: TokenOptEnvObservation

    def line(self, prompt: str, help_text: RenderableType) -> str:
        """The next line that is meant for the one who asks."""
        while True:
            line = self.terminal.ask(prompt)
            if line in ("q", "quit"):
                raise Left
            if line in ("?", "help"):
                self.terminal.show(help_text)
            elif shown := _SHOW.fullmatch(line):
                self.terminal.show(self._item(int(shown[1])))
            elif line == "show":
                self.terminal.show("show takes the number of an item in memory, like: show 4")
            else:
                return line

    def complain(self, message: str) -> None:
        self.terminal.show(Text(message, style="red"))

    def _item(self, alias: int) -> RenderableType:
        for item in self.observation.working_memory.items:
            if item.alias == alias:
                return play_board.item_text(item)
        if any(handle.alias == alias for handle in self.observation.surfaced):
            return f"#{alias} is a segment that you do not hold, so its text is not at hand."
        return f"Nothing in memory is numbered {alias}."
