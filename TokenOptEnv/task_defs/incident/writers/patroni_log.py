"""The log of a PostgreSQL member under Patroni: the high-availability loop and the server's own lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.writers.clock import Clock, Window
from TokenOptEnv.task_defs.incident.writers.entries import Entry, ticks


@dataclass(frozen=True)
class PatroniLog:
    """Lines of several members in one file: the log shipper puts the member's `tag` in front."""

    clock: Clock

    def line(self, at_ms: int, tag: str, level: str, message: str) -> Entry:
        return Entry(at_ms, f"{tag} {self.clock.spaced(at_ms, ',')} {level}: {message}")

    def at(self, time: str, tag: str, level: str, message: str) -> Entry:
        """A line written by hand."""
        return self.line(self.clock.at(time), tag, level, message)


def leader_loop(
    stream: Stream, log: PatroniLog, window: Window, every_ms: int, tag: str, member: str
) -> Iterator[Entry]:
    for at_ms in ticks(stream, window, every_ms):
        yield log.line(at_ms, tag, "INFO", f"no action. I am ({member}), the leader with the lock")


def follower_loop(
    stream: Stream, log: PatroniLog, window: Window, every_ms: int, tag: str, member: str, leader: str
) -> Iterator[Entry]:
    for at_ms in ticks(stream, window, every_ms):
        yield log.line(
            at_ms, tag, "INFO", f"no action. I am ({member}), a secondary, and following a leader ({leader})"
        )


def checkpoints(stream: Stream, log: PatroniLog, window: Window, every_ms: int, tag: str) -> Iterator[Entry]:
    for at_ms in ticks(stream, window, every_ms):
        buffers = stream.integer(700, 9000)
        write = stream.integer(20_000, 260_000)
        sync = stream.integer(10, 99)
        message = (
            f"checkpoint complete: wrote {buffers} buffers ({buffers / 16384:.1%}); "
            f"write={write / 1000:.3f} s, sync={sync / 1000:.3f} s"
        )
        yield log.line(at_ms, tag, "LOG", message)
