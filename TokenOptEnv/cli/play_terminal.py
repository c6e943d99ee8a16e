"""The two ends of a conversation in the terminal: lines in, pages out, one after the other.

Nothing moves the cursor, so the same words do on a dumb terminal, in a pipe and in a transcript.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper

from rich.console import Console, RenderableType
from rich.text import Text

from TokenOptEnv.by_hand.plain_text import plain


class Left(Exception):
    """The person has gone: `q`, or the end of the input."""


class Terminal:
    def __init__(self, no_color: bool = False) -> None:
        for stream in (sys.stdin, sys.stdout):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")
        self._console = Console(
            markup=False, highlight=False, emoji=False, color_system=None if no_color else "auto", soft_wrap=False
        )
        self.interactive = sys.stdin is not None and sys.stdin.isatty()
        """Somebody types, and sees what is typed."""
        if self.interactive:
            with suppress(ImportError):  # arrow keys and history, where there is such a thing
                import_module("readline")

    def show(self, *parts: RenderableType) -> None:
        for part in parts:
            self._console.print(part)

    def ask(self, prompt: str) -> str:
        """One line. What comes through a pipe is repeated, so that a transcript reads like a conversation."""
        if sys.stdin is None:
            raise Left
        try:
            line = input(prompt)
        except EOFError:
            self._console.print()
            raise Left from None
        if not self.interactive:
            self._console.print(Text(plain(line)))
        return line.strip()
