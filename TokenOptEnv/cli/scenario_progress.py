"""How far long work has come and when it will be done: a bar where somebody watches, now and then a line elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

_LINE_EVERY_S = 30.0


def watched(work: Iterator[T], total: int, done_before: int, what: str) -> Iterator[T]:
    """`done_before` of `total` were finished by an earlier run and are not in `work`."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    if console.is_terminal:
        yield from track(work, what, total=total, completed=done_before, console=console, transient=True)
    else:
        yield from _told(work, total, done_before, what)


def _told(work: Iterator[T], total: int, done_before: int, what: str) -> Iterator[T]:
    began = said = monotonic()
    for done, each in enumerate(work, start=1):
        yield each
        now = monotonic()
        left = total - done_before - done
        if now - said >= _LINE_EVERY_S and left:
            said = now
            seconds = round(left * (now - began) / done)
            sys.stderr.write(
                f"{what}: {done_before + done} of {total}, about {seconds // 60}:{seconds % 60:02d} left\n"
            )
            sys.stderr.flush()
