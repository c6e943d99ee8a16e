"""What the services on the coast log while they share a disk with a stranger: store, ingest, router."""

from __future__ import annotations

from collections.abc import Iterator

from TokenOptEnv.task_defs.incident.cases.daily_formats import DailyJavaLog, DailyJsonLog
from TokenOptEnv.task_defs.incident.cases.late_readings.nights import Night, Surge
from TokenOptEnv.task_defs.incident.writers.entries import Entry, merge, ticks
from TokenOptEnv.task_defs.incident.writers.java_log import Heap, collector_pauses
from TokenOptEnv.task_defs.incident.writers.klog import Klog

_MAP_EVERY_MS = 3_600_000
_GAUGES = ("saltby", "wrack-point", "ferrow", "old-harbour", "east-sluice", "dunmouth", "kelp-bank", "lantern-quay")
_COMPACTED = ("01:52:31.208", "s03")
"""A slow but ordinary compaction of the first night, before anything stalled."""


# --- store


def stall_span(night: Night, surge: Surge) -> str:
    """The store's words for the first shard that stalled in a surge; the others it only counts."""
    return f'"wal sync stalled, nvme1 busy" shard="{_stalled_shard(night, surge)}" ms="{_stall_ms(night, surge)}"'


def lead_span(night: Night, shard: str) -> str:
    return f'"leads" shard="{shard}" node="{night.leads[shard]}"'


def compaction_span() -> str:
    return f'"compaction slow" shard="{_COMPACTED[1]}"'


def store_log(night: Night) -> str:
    log = Klog(night.clock)

    def stalls() -> Iterator[Entry]:
        for surge in night.surges:
            yield log.line(
                night.stalled_at_ms(surge),
                "W",
                "wal.go:131",
                "wal sync stalled, nvme1 busy",
                shard=_stalled_shard(night, surge),
                ms=_stall_ms(night, surge),
                alike=night.draws("alike", surge.number).integer(17, 60),
            )

    def maps() -> Iterator[Entry]:
        for start_ms in range(night.window.start_ms + 20_000, night.window.end_ms, _MAP_EVERY_MS):
            for place, (shard, node) in enumerate(night.leads.items()):
                yield log.line(start_ms + 3 * place, "I", "map.go:40", "leads", shard=shard, node=node)

    def work() -> Iterator[Entry]:
        stream = night.draws("store", "work")
        for at_ms in ticks(stream, night.window, 31_000):
            shard = stream.choice(tuple(night.leads))
            if night.leads[shard] == night.node and night.surge_at(at_ms):
                continue
            source, message, fields = stream.choice(
                (
                    ("wal.go:88", "synced", {"ms": str(stream.integer(3, 11))}),
                    ("wal.go:88", "synced", {"ms": str(stream.integer(3, 11))}),
                    ("flush.go:61", "flushed", {"rows": str(stream.integer(2000, 9000))}),
                    ("compact.go:94", "compacted", {"ms": str(stream.integer(240, 900))}),
                    ("read.go:52", "range read", {"ms": str(stream.integer(2, 40))}),
                )
            )
            yield log.line(at_ms, "I", source, message, shard=shard, **fields)

    def worries() -> Iterator[Entry]:
        stream = night.draws("store", "worries")
        for at_ms in ticks(stream, night.window, 410_000):
            level, source, message = stream.choice(
                (
                    ("W", "clockless.go:18", "reading from the future dropped"),
                    ("W", "rows.go:77", "duplicate reading kept once"),
                    ("E", "snap.go:33", "snapshot listing answered 503, tried later"),
                )
            )
            yield log.line(at_ms, level, source, message, shard=stream.choice(tuple(night.leads)))

    by_hand: list[Entry] = []
    time, shard = _COMPACTED
    if shard in night.leads:
        by_hand.append(log.line(night.clock.at(time), "W", "compact.go:101", "compaction slow", shard=shard, ms=3912))
    return merge(by_hand, stalls(), maps(), work(), worries())


def _stalled_shard(night: Night, surge: Surge) -> str:
    shards = [shard for shard, node in night.leads.items() if node == night.node]
    return shards[0] if surge.number == 1 else night.draws("shard", surge.number).choice(shards)


def _stall_ms(night: Night, surge: Surge) -> int:
    return surge.wait_ms + night.draws("sync", surge.number).integer(40, 310)


# --- ingest


RADIO_LATE = '"reading late, 71 s in the air","gauge":"wrack-point-2"'


def ingest_log(night: Night) -> str:
    log = DailyJsonLog(night.clock)
    shards = tuple(night.leads)

    def readings() -> Iterator[Entry]:
        stream = night.draws("ingest", "readings")
        for at_ms in ticks(stream, night.window, 38_000):
            place, number = stream.integer(0, len(_GAUGES) - 1), stream.integer(1, 4)
            shard, gauge = shards[(4 * place + number) % len(shards)], f"{_GAUGES[place]}-{number}"
            surge = night.surge_at(at_ms) if night.leads[shard] == night.node else None
            if surge is not None:
                yield log.line(at_ms, "warn", "reading waits for store", gauge=gauge, shard=shard, ms=surge.wait_ms)
                continue
            level_cm, age_s = stream.integer(188, 521), stream.integer(1, 4)
            yield log.line(at_ms, "info", "reading", gauge=gauge, shard=shard, cm=level_cm, age_s=age_s)

    def masts() -> Iterator[Entry]:
        stream = night.draws("ingest", "masts")
        for at_ms in ticks(stream, night.window, 520_000):
            yield log.line(at_ms, "warn", "link flapped", mast="mast-7", down_s=stream.integer(2, 40))
            yield log.line(at_ms + stream.integer(2_000, 9_000), "info", "link up", mast="mast-7")

    def batches() -> Iterator[Entry]:
        stream = night.draws("ingest", "batches")
        for at_ms in ticks(stream, night.window, 120_000):
            yield log.line(at_ms, "info", "minute", readings=stream.integer(520, 610), gauges=188)

    by_hand = [
        log.at("01:44:02.310", "info", "settings read", build="dep-881", every_s=20, reason="spring tide"),
        log.at("02:03:40.774", "warn", "reading late, 71 s in the air", gauge="wrack-point-2", shard="s03"),
        log.at("02:25:16.090", "info", "starting", build="dep-874"),
    ]
    return merge(by_hand, readings(), masts(), batches())


# --- router


def held_span(night: Night, surge: Surge) -> str:
    stream = night.draws("held", surge.number)
    held_ms = surge.wait_ms + stream.integer(60, 420)
    return f"outbox held {held_ms} ms, nvme1 busy, {stream.integer(21, 88)} warnings wait"


def router_log(night: Night) -> str:
    log = DailyJavaLog(night.clock)

    def sent() -> Iterator[Entry]:
        stream = night.draws("router", "sent")
        for at_ms in ticks(stream, night.window, 42_000):
            if night.surge_at(at_ms):
                continue
            warning, thread = f"w-{stream.hex(6)}", f"send-{stream.integer(1, 6)}"
            message = stream.choice(
                (
                    f"{warning} to siren-{stream.integer(2, 44)} in {stream.integer(30, 190)} ms",
                    f"{warning} to {stream.integer(40, 2100)} phones in {stream.integer(200, 900)} ms",
                    f"{warning} withdrawn, level fell",
                    f"{warning} merged with w-{stream.hex(6)}",
                )
            )
            yield log.line(at_ms, "INFO", thread, "router.Send", message)

    def worries() -> Iterator[Entry]:
        stream = night.draws("router", "worries")
        for at_ms in ticks(stream, night.window, 480_000):
            level, message = stream.choice(
                (
                    ("WARN", f"siren-{stream.integer(2, 44)} did not confirm, sent again"),
                    ("WARN", f"outbox at {stream.integer(4010, 4600)} of 5000"),
                    ("ERROR", "text gateway answered 429, next one taken"),
                )
            )
            yield log.line(at_ms, level, f"send-{stream.integer(1, 6)}", "router.Send", message)

    def minutes() -> Iterator[Entry]:
        stream = night.draws("router", "minutes")
        for at_ms in ticks(stream, night.window, 120_000):
            message = f"2 min: {stream.integer(30, 90)} sent, {stream.integer(0, 5)} merged"
            yield log.line(at_ms, "INFO", "stats", "router.Stats", message)

    by_hand = [
        log.at("01:38:07.115", "INFO", "main", "router.Boot", "dep-889 starting, outbox format 3"),
        log.at("01:38:12.480", "INFO", "main", "router.Outbox", "288 warnings read back, all of format 2"),
        log.at("02:30:09.907", "INFO", "main", "router.Boot", "dep-872 starting, outbox format 2"),
    ]
    return merge(
        by_hand,
        (
            log.line(night.stalled_at_ms(surge) + 3_400, "WARN", "outbox", "router.Outbox", held_span(night, surge))
            for surge in night.surges
        ),
        sent(),
        worries(),
        minutes(),
        collector_pauses(night.draws("router", "gc"), log, night.window, 420_000, Heap(1024, 402, 90, 14), 77),
    )
