"""A host's journal: units side by side, with the chatter every host has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.writers.clock import Clock, Window
from TokenOptEnv.task_defs.incident.writers.entries import Entry, ticks


@dataclass(frozen=True)
class Journal:
    clock: Clock
    host: str

    def line(self, at_ms: int, unit: str, pid: int, message: str) -> Entry:
        return Entry(at_ms, f"{self.clock.short(at_ms)} {self.host} {unit}[{pid}]: {message}")

    def at(self, time: str, unit: str, pid: int, message: str) -> Entry:
        """A line written by hand."""
        return self.line(self.clock.at(time), unit, pid, message)


def housekeeping(stream: Stream, journal: Journal, window: Window, every_ms: int) -> Iterator[Entry]:
    """Timers, sessions and scrapes that mean nothing."""
    for at_ms in ticks(stream, window, every_ms):
        session = stream.integer(200, 4000)
        unit, pid, message = stream.choice(
            (
                ("systemd", 1, "Starting logrotate.service - Rotate log files..."),
                ("systemd", 1, "logrotate.service: Deactivated successfully."),
                ("systemd", 1, "Started sysstat-collect.service - system activity accounting tool."),
                ("CRON", stream.integer(9000, 64000), "(root) CMD (/usr/lib/sa/sa1 1 1)"),
                ("systemd-logind", 588, f"New session {session} of user svc-ansible."),
                ("systemd-logind", 588, f"Session {session} logged out. Waiting for processes to exit."),
                ("node_exporter", 702, f"level=info msg=scrape duration_ms={stream.integer(18, 95)} collectors=31"),
                ("dhclient", 530, f"XMT: Renew on eth0, interval {stream.integer(9000, 11000)}ms."),
                ("irqbalance", 611, "Cannot change IRQ 27 affinity: Operation not permitted"),
            )
        )
        yield journal.line(at_ms, unit, pid, message)


def served(stream: Stream, journal: Journal, window: Window, every_ms: int, unit: str, pid: int) -> Iterator[Entry]:
    """A service's own summary of what it answered."""
    for at_ms in ticks(stream, window, every_ms):
        served_calls, p95_ms, connections = stream.integer(300, 900), stream.integer(6, 22), stream.integer(40, 90)
        message = f"level=info msg=window served={served_calls} p95_ms={p95_ms} conns={connections}"
        yield journal.line(at_ms, unit, pid, message)
