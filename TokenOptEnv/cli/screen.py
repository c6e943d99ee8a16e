"""Where a command writes: results to stdout, progress to stderr, and with `--json` nothing but JSON to stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import RenderableType

T = TypeVar("T")


def show(*parts: RenderableType) -> None:
    """As wide as the terminal, or 80 columns. Nothing in the text is taken for markup."""
    from rich.console import Console

    console = Console(markup=False, highlight=False, emoji=False)
    for part in parts:
        console.print(part)


def line(text: str) -> None:
    """One line, however long: for output that is searched or counted by lines."""
    sys.stdout.write(text + "\n")


def json(value: BaseModel | Sequence[BaseModel]) -> None:
    from pydantic_core import to_json

    sys.stdout.write(to_json(value, indent=1).decode() + "\n")


def progress(work: Iterable[T], total: int, what: str) -> Iterator[T]:
    """Shows how far `work` has come where somebody watches; elsewhere it stays silent."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    shown = console.is_terminal
    yield from track(work, description=what, total=total, console=console, transient=True, disable=not shown)
