"""The disk accounts of a rack: a line for each look at a node's disk, slices by what they write, in MB/s."""

from __future__ import annotations

from collections.abc import Iterator

from TokenOptEnv.task_defs.incident.cases.late_readings.nights import Night, Slice, Surge
from TokenOptEnv.task_defs.incident.writers.entries import Entry, merge, ticks

_EVERY_MS = 68_000
_BUSY_LOOK_MS = 61_000
"""After a disk has become busy it is looked at once; the account says nothing more until that is over."""


def busy_span(night: Night, surge: Surge) -> str:
    """What the account says of the node's disk in one surge: busy, and with whom."""
    return f"busy nvme1 {night.stranger}:{surge.mb_s}"


def accounts(night: Night) -> str:
    return merge(_busy(night), *(_calm(night, node, slices) for node, slices in night.slices.items()))


def _busy(night: Night) -> Iterator[Entry]:
    for surge in night.surges:
        stream = night.draws("busy", surge.number)
        at_ms = surge.start_ms + _BUSY_LOOK_MS
        starved = stream.choice(night.slices[night.node])
        wait_ms = surge.wait_ms * stream.integer(93, 99) // 100
        yield Entry(
            at_ms,
            f"{night.clock.second(at_ms)} {night.node} {busy_span(night, surge)} "
            f"{starved.uid}:{stream.integer(1, 4)} await={wait_ms}",
        )


def _calm(night: Night, node: str, slices: tuple[Slice, ...]) -> Iterator[Entry]:
    stream = night.draws("disk", node)
    for at_ms in ticks(stream, night.window, _EVERY_MS):
        if node == night.node and night.surge_at(at_ms):
            continue
        written = [(stream.integer(*each.mb_s), each.uid) for each in slices if each.at_work(at_ms)]
        written.append((stream.integer(1, 4), "system"))
        (most, top), (second, follows), *_ = sorted(written, reverse=True)
        yield Entry(
            at_ms,
            f"{night.clock.second(at_ms)} {node} ok {top}:{most} {follows}:{second} await={stream.integer(2, 9)}",
        )
