"""Behind the callers: the mint hosts' log as the collector received it, the drain of a hypervisor, one guest's journal.

The collector puts its own time on every line, so the mint log looks in order; only its rare notes say that a
source's stamps had to be rewritten. The journal was read on the guest and has the guest's own time throughout.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.cases.refused_labels import cast
from TokenOptEnv.task_defs.incident.cases.refused_labels.traffic import traffic
from TokenOptEnv.task_defs.incident.writers.clock import Window
from TokenOptEnv.task_defs.incident.writers.entries import Entry, merge, ticks
from TokenOptEnv.task_defs.incident.writers.syslog import Journal, housekeeping
from TokenOptEnv.task_defs.incident.writers.tracing_log import TracingLog

_ONE_IN = 9
_NOTE_EVERY_MS = 11 * 60_000
_FIRST_NOTE_MS = cast.RESUMED_MS + 15_400


def note_times_ms() -> range:
    """When the collector says again that a source is out of time."""
    return range(_FIRST_NOTE_MS, cast.WINDOW.end_ms, _NOTE_EVERY_MS)


def note_span(at_ms: int) -> str:
    return f"source={cast.LATE_MINT} behind_ms={cast.behind_ms(cast.LATE_MINT, at_ms)}"


def mint_log() -> str:
    def line(at_ms: int, host: str, level: str, message: str, rest: str) -> Entry:
        return Entry(at_ms, f'{cast.DAY.iso(at_ms)} {host} level={level} msg="{message}" {rest}')

    def minted() -> Iterator[Entry]:
        for token in traffic().tokens:
            if token.sampled(_ONE_IN):
                rest = f"token={token.token_id} sub={token.holder.caller} aud={token.holder.audience} kid={token.key}"
                yield line(token.minted_ms + token.took_ms, token.host, "INFO", "minted", rest)

    def statistics(host: str) -> Iterator[Entry]:
        stream = _draws("mint", "statistics", host)
        for at_ms in ticks(stream, cast.WINDOW, 190_000):
            if host == cast.LATE_MINT and cast.PAUSED_MS <= at_ms < cast.RESUMED_MS:
                continue
            rest = (
                f"goroutines={stream.integer(60, 140)} heap_mb={stream.integer(70, 96)} hsm_ms={stream.integer(1, 4)}"
            )
            yield line(at_ms, host, "DEBUG", "runtime", rest)

    switched = [
        line(at_ms, host, "INFO", "signing key changed", f"kid={cast.NEW_KEY} was={cast.OLD_KEY} by={cast.ROTATION}")
        for host, at_ms in cast.SWITCHED_MS.items()
    ]
    notes = [
        line(at_ms, "collector", "WARN", "stamps rewritten to time of receipt", f"{note_span(at_ms)} lines={lines}")
        for at_ms, lines in zip(note_times_ms(), (41, 377, 402, 388), strict=True)
    ]
    other_notes = [
        line(
            cast.DAY.at("09:29:08.114"),
            "collector",
            "WARN",
            "stamps rewritten to time of receipt",
            "source=printer-relay behind_ms=3610 lines=12",
        ),
        line(
            cast.DAY.at("09:55:41.650"),
            "collector",
            "WARN",
            "lines dropped, over 16 kB",
            "source=customs lines=2",
        ),
    ]
    balancer = [
        line(cast.OUT_OF_ROTATION.start_ms, "lb-mint", "WARN", "member out", f"member={cast.LATE_MINT} probes=3/3"),
        line(cast.OUT_OF_ROTATION.end_ms, "lb-mint", "INFO", "member in", f"member={cast.LATE_MINT} probes=2/2"),
        line(cast.DAY.at("09:37:12.008"), "lb-mint", "WARN", "probe slow", "member=mint-1 ms=912"),
        line(cast.DAY.at("10:02:33.471"), "lb-mint", "WARN", "probe slow", "member=mint-1 ms=871"),
    ]
    vault = [
        line(
            cast.DAY.at(time),
            host,
            "WARN",
            "key-vault session renewed late",
            f"lease=mint left_s={left} cert_days_left=9",
        )
        for time, host, left in (
            ("09:27:40.220", "mint-2", 31),
            ("09:57:41.906", "mint-2", 28),
            ("10:11:15.330", "mint-1", 44),
        )
    ]
    return merge(switched, notes, other_notes, balancer, vault, minted(), *(statistics(host) for host in cast.MINTS))


@dataclass(frozen=True)
class Moved:
    move_id: str
    guest: str
    target: str
    at_ms: int
    downtime_ms: int
    note: str = "-"


MOVES = (
    Moved("mig-40169", "wiki-2", "hv-15", cast.DAY.at("09:34:21.300"), 297),
    Moved("mig-40170", "tariff-db-r2", "hv-07", cast.DAY.at("09:35:02.870"), 412),
    Moved(cast.CUSTOMS_MOVE, "customs-2", "hv-15", cast.DAY.at("09:36:40.515"), 1_904, "pages sent twice"),
    Moved("mig-40174", "build-9", "hv-09", cast.DAY.at("09:38:10.090"), 331),
    Moved(cast.MOVE, cast.LATE_MINT, "hv-15", cast.PAUSED_MS, cast.DOWNTIME_MS, "link lost while paused"),
    Moved("mig-40181", "returns-1", "hv-09", cast.DAY.at("09:44:55.731"), 288),
    Moved("mig-40183", "edge-4", "hv-07", cast.DAY.at("09:47:30.204"), 305),
    Moved("mig-40186", "mail-relay", "hv-15", cast.DAY.at("09:51:12.660"), 351),
)


def move_span(move: Moved) -> str:
    return f"move={move.move_id} guest={move.guest} to={move.target} downtime_ms={move.downtime_ms}"


def drain_log() -> str:
    log = TracingLog(cast.DAY)

    def passes(move: Moved) -> Iterator[Entry]:
        stream = _draws("drain", move.move_id)
        at_ms = move.at_ms - stream.integer(46_000, 70_000)
        left_mb = stream.integer(3000, 9000)
        yield log.line(at_ms, "INFO", "drain::plan", "guest next", move=move.move_id, guest=move.guest, to=move.target)
        for number in range(1, 4):
            at_ms += stream.integer(9_000, 14_000)
            left_mb = left_mb * stream.integer(20, 45) // 100
            yield log.line(
                at_ms, "DEBUG", "drain::copy", "memory pass", move=move.move_id, pass_no=number, dirty_mb=left_mb
            )
        yield log.line(move.at_ms, "INFO", "drain::copy", "guest paused", move=move.move_id)
        yield log.line(
            move.at_ms + move.downtime_ms,
            "INFO",
            "drain::copy",
            "guest runs",
            move=move.move_id,
            guest=move.guest,
            to=move.target,
            downtime_ms=move.downtime_ms,
            note=move.note,
        )

    by_hand = [
        log.line(cast.DAY.at("09:31:00.002"), "INFO", "drain::plan", "drain begins", host="hv-12", why="board-swap"),
        log.line(cast.DAY.at("09:31:04.550"), "WARN", "drain::plan", "memory on hv-07 at 81 percent, fewer guests go"),
        log.line(cast.DAY.at("09:40:02.118"), "WARN", "drain::net", "migration link hv-12 hv-15 down, waiting"),
        log.line(cast.DAY.at("09:41:16.902"), "INFO", "drain::net", "migration link hv-12 hv-15 up"),
        log.line(cast.DAY.at("09:53:40.730"), "INFO", "drain::plan", "drain done", host="hv-12", guests=len(MOVES)),
    ]
    return merge(by_hand, *(passes(move) for move in MOVES))


FELT: Final = "System clock wrong by 94.206871 seconds"


def late_journal() -> str:
    """Stamped by the guest: to it no time passed while it stood still, so everything after is early."""
    journal = Journal(cast.DAY, cast.LATE_MINT)
    unit, pid = "token-mint", 1733

    def own(time: str) -> int:
        at_ms = cast.DAY.at(time)
        return at_ms - cast.behind_ms(cast.LATE_MINT, at_ms)

    by_hand = [
        journal.line(own("09:41:19.004"), "qemu-ga", 590, "info: guest-ping called"),
        journal.line(own("09:43:14.310"), "chronyd", 611, FELT),
        journal.line(own("09:47:20.000"), unit, pid, f"level=info msg=signing kid={cast.NEW_KEY} was={cast.OLD_KEY}"),
        journal.line(own("09:58:02.771"), unit, pid, "level=warn msg=hsm session=2 retry=1 err=timeout"),
        journal.line(own("10:31:07.118"), "systemd", 1, "Stopping token-mint.service - service tokens..."),
        journal.line(own("10:31:08.220"), "systemd", 1, "Started token-mint.service - service tokens."),
        journal.line(own("10:31:09.005"), unit, 2290, f"level=info msg=listening addr=:7443 kid={cast.NEW_KEY}"),
    ]
    hours = Window(own("09:24"), own("10:44"))
    return merge(by_hand, housekeeping(_draws("journal"), journal, hours, 130_000))


def _draws(*part: str) -> Stream:
    return Stream(cast.SCENARIO_ID, *part)
