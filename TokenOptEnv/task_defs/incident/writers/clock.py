"""The calendar a case is set in: times as milliseconds since midnight, and the stamps systems print.

Month names are spelt out here because `strftime` asks the machine's locale for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Window:
    """From `start_ms` up to, not including, `end_ms`."""

    start_ms: int
    end_ms: int


@dataclass(frozen=True)
class Clock:
    year: int
    month: int
    day: int

    def at(self, time: str) -> int:
        """`13:40:02.117`, `13:40:02` or `13:40`, as milliseconds since midnight."""
        hours, minutes, *rest = time.split(":")
        seconds, _, fraction = (rest[0] if rest else "0").partition(".")
        return ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * 1000 + int(fraction.ljust(3, "0") or 0)

    def window(self, start: str, end: str) -> Window:
        return Window(self.at(start), self.at(end))

    def iso(self, at_ms: int) -> str:
        """`2025-03-11T13:40:02.117Z`, as Envoy, Go and JSON loggers print it."""
        return self._moment(at_ms).strftime("%Y-%m-%dT%H:%M:%S") + f".{at_ms % 1000:03d}Z"

    def spaced(self, at_ms: int, mark: str = ".") -> str:
        """`2025-03-11 13:40:02.117`, as Logback prints it; Python's logging puts a comma for the point."""
        return self._moment(at_ms).strftime("%Y-%m-%d %H:%M:%S") + f"{mark}{at_ms % 1000:03d}"

    def short(self, at_ms: int) -> str:
        """`Mar 11 13:40:02`, as the journal prints it."""
        moment = self._moment(at_ms)
        return f"{_MONTHS[moment.month - 1]} {moment.day:02d} {moment.strftime('%H:%M:%S')}"

    def common(self, at_ms: int) -> str:
        """`11/Mar/2025:13:40:02 +0000`, as nginx prints it."""
        moment = self._moment(at_ms)
        return f"{moment.day:02d}/{_MONTHS[moment.month - 1]}/{moment.year}:{moment.strftime('%H:%M:%S')} +0000"

    def minute(self, at_ms: int) -> str:
        """`13:40`, as a chat or a metrics export prints it."""
        return self._moment(at_ms).strftime("%H:%M")

    def compact(self, at_ms: int) -> str:
        """`0311 13:40:02.117000`, as klog prints it behind the severity."""
        return self._moment(at_ms).strftime("%m%d %H:%M:%S") + f".{at_ms % 1000:03d}000"

    def second(self, at_ms: int) -> str:
        """`13:40:02`, as a ticket, Serilog or a proxy prints it."""
        return self._moment(at_ms).strftime("%H:%M:%S")

    def day_minute(self, at_ms: int) -> str:
        """`2025-03-11 13:40`, as a list of changes prints it; a time before midnight is on the day before."""
        return self._moment(at_ms).strftime("%Y-%m-%d %H:%M")

    def _moment(self, at_ms: int) -> datetime:
        return datetime(self.year, self.month, self.day, tzinfo=UTC) + timedelta(milliseconds=at_ms)
