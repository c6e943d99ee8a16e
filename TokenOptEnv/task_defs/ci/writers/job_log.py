"""The log of one job as it grows: a clock, a stream of draws, and the dialect of the service that prints it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

from TokenOptEnv.streams import Stream

ESCAPE = "^["
"""The escape byte as pagers show it: a stored log must not steer the terminal of its reader."""


def coloured(code: str, text: str) -> str:
    return f"{ESCAPE}[{code}m{text}{ESCAPE}[0m"


class Dialect(Protocol):
    """How one CI service prints what all of them print."""

    def stamp(self, now: datetime, started: datetime) -> str: ...

    def opening(self, title: str) -> list[str]: ...

    def closing(self) -> list[str]: ...

    def command(self, text: str) -> str: ...

    def warning(self, text: str) -> str: ...

    def failure(self, exit_code: int) -> str: ...


class JobLog:
    """Every line costs a drawn gap of time, so no two jobs tick alike."""

    def __init__(self, dialect: Dialect, started: datetime, stream: Stream) -> None:
        self.dialect = dialect
        self.stream = stream
        self._started = started
        self._now = started
        self._lines: list[str] = []

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self._lines)

    @property
    def now(self) -> datetime:
        return self._now

    @property
    def last(self) -> str:
        """The line just written, as it stands in the log: what a quote of it must say."""
        return self._lines[-1]

    def wait(self, low_ms: int, high_ms: int) -> None:
        self._now += timedelta(milliseconds=self.stream.integer(low_ms, high_ms))

    def say(self, *lines: str) -> None:
        for line in lines:
            self.wait(1, 45)
            self._lines.append(f"{self.dialect.stamp(self._now, self._started)} {line}".rstrip())

    def bare(self, line: str) -> None:
        """A line of the log's own, outside the job's time: a heading."""
        self._lines.append(line)

    def open(self, title: str) -> None:
        self.say(*self.dialect.opening(title))

    def close(self) -> None:
        self.say(*self.dialect.closing())

    def command(self, text: str) -> None:
        self.say(self.dialect.command(text))

    def warn(self, text: str) -> None:
        self.say(self.dialect.warning(text))

    def fail(self, exit_code: int) -> None:
        self.say(self.dialect.failure(exit_code))
