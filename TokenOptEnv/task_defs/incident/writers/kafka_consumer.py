"""What a Kafka consumer built on the Java client prints while it polls, applies and commits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.writers.clock import Window
from TokenOptEnv.task_defs.incident.writers.entries import Entry, ticks
from TokenOptEnv.task_defs.incident.writers.java_log import JavaLog, Thrown

COORDINATOR = "o.a.k.c.c.internals.ConsumerCoordinator"
FETCHER = "o.a.k.clients.FetchSessionHandler"
NETWORK = "o.a.k.clients.NetworkClient"


@dataclass(frozen=True)
class Consumer:
    """A group member with one partition; `package` is the application's own logger prefix."""

    client_id: str
    group_id: str
    topic: str
    partition: int
    package: str

    @property
    def tag(self) -> str:
        return f"[Consumer clientId={self.client_id}, groupId={self.group_id}]"

    @property
    def partition_name(self) -> str:
        return f"{self.topic}-{self.partition}"

    @property
    def shard(self) -> str:
        return f"s{self.partition}"

    @property
    def lane(self) -> str:
        return f"lane-{self.partition}"

    def said(self, log: JavaLog, at_ms: int, thread: str, logger: str, message: str) -> Entry:
        return log.line(at_ms, "INFO", thread, f"{self.package}.{logger}", message)

    def polled(self, log: JavaLog, at_ms: int, records: int, offset: int) -> Entry:
        return self.said(
            log, at_ms, "poll-0", "PollLoop", f"poll returned {records} from {self.partition_name}@{offset}"
        )


@dataclass(frozen=True)
class Applier:
    """The bounded stage behind the poll loop: how many records it holds, and how long one takes."""

    slots: int
    record_ms: tuple[int, int]


@dataclass(frozen=True)
class Feed:
    """What polls find: how many records, and how long the loop rests after them."""

    records: tuple[int, int]
    rest_ms: tuple[int, int]


def batches(
    stream: Stream, log: JavaLog, consumer: Consumer, window: Window, applier: Applier, feed: Feed, offset: int
) -> Iterator[Entry]:
    """Healthy: poll, apply, commit, publish the mark, poll again; the mark grows by what was applied."""
    at_ms = window.start_ms
    while at_ms < window.end_ms:
        polled = stream.integer(*feed.records)
        took_ms = polled * stream.integer(*applier.record_ms) + stream.integer(0, 240)
        yield consumer.polled(log, at_ms, polled, offset)
        offset += polled
        done_ms = at_ms + took_ms
        yield consumer.said(
            log, done_ms, consumer.lane, "ApplyLane", f"batch done applied={polled} already=0 took={took_ms}ms"
        )
        yield consumer.said(
            log, done_ms + stream.integer(9, 40), "mark-0", "Watermark", f"publish {consumer.shard}={offset} (advanced)"
        )
        at_ms = done_ms + stream.integer(*feed.rest_ms)


_COORDINATOR_CLASS = "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator"
_COMMIT_FAILED = Thrown(
    "org.apache.kafka.clients.consumer.CommitFailedException: Offset commit cannot be completed since the consumer is "
    "not part of an active group for auto partition assignment",
    (
        f"{_COORDINATOR_CLASS}.sendOffsetCommitRequest(ConsumerCoordinator.java:1351)",
        f"{_COORDINATOR_CLASS}.commitOffsetsSync(ConsumerCoordinator.java:1207)",
    ),
    more=9,
)


@dataclass(frozen=True)
class Group:
    """The consumer group as it stands when a member comes back to it."""

    members: int
    generation: int
    poll_interval_ms: int


def outlasting_batches(
    stream: Stream,
    log: JavaLog,
    consumer: Consumer,
    window: Window,
    applier: Applier,
    records: int,
    offset: int,
    group: Group,
) -> Iterator[Entry]:
    """Batches that keep the poll loop longer than the poll interval.

    The loop hands records over as slots come free, so it stands until all but `slots` of them are applied. By then
    the group has put the member out, its commit fails, and the same records come again.
    """
    at_ms, generation, first = window.start_ms, group.generation, True
    while at_ms < window.end_ms:
        record_ms = stream.integer(*applier.record_ms)
        parked_ms = (records - applier.slots) * record_ms + stream.integer(0, 990)
        done_ms = at_ms + records * record_ms + stream.integer(1000, 1990)
        slots, parked_s = applier.slots, parked_ms // 1000
        full = f"{consumer.shard} fill=1.00 ({slots}/{slots}), poll-0 parked"
        released = f"{consumer.shard} fill=0.99 ({slots - 2}/{slots}), poll-0 released after {parked_s} s"
        yield consumer.polled(log, at_ms, records, offset)
        yield consumer.said(log, at_ms + stream.integer(30, 60), "poll-0", "ApplyBuffer", full)
        for now_ms in ticks(stream, Window(at_ms + 20_000, done_ms - 10_000), 88_000):
            done = (now_ms - at_ms) // record_ms
            applied = done if first else 0
            message = f"at {done}/{records} applied={applied} already={done - applied}"
            yield consumer.said(log, now_ms, consumer.lane, "ApplyLane", message)
        yield log.line(
            at_ms + group.poll_interval_ms + stream.integer(1, 90),
            "WARN",
            f"kafka-coordinator-heartbeat-thread | {consumer.group_id}",
            COORDINATOR,
            f"{consumer.tag} consumer poll timeout has expired. This means the time between subsequent calls to poll() "
            "was longer than the configured max.poll.interval.ms, which typically implies that the poll loop is "
            "spending too much time processing messages.",
        )
        yield consumer.said(log, at_ms + parked_ms, "poll-0", "ApplyBuffer", released)
        yield log.line(
            done_ms, "ERROR", "poll-0", f"{consumer.package}.PollLoop", "batch not committed", _COMMIT_FAILED
        )
        generation += stream.integer(2, 9)
        joined_ms = done_ms + stream.integer(900, 2100)
        yield log.line(
            joined_ms,
            "INFO",
            "poll-0",
            COORDINATOR,
            f"{consumer.tag} Successfully joined group with generation Generation{{generationId={generation}}}",
        )
        yield consumer.said(
            log,
            joined_ms + stream.integer(20, 80),
            "poll-0",
            "Membership",
            f"{group.members} members, {group.members} partitions, {consumer.partition_name} is ours",
        )
        first = False
        at_ms = done_ms + stream.integer(2300, 4100)


def held_watermark(
    stream: Stream, log: JavaLog, consumer: Consumer, window: Window, every_ms: int, offset: int
) -> Iterator[Entry]:
    """The mark that readers wait for, published again and again without moving since the window began."""
    for at_ms in ticks(stream, Window(window.start_ms + every_ms, window.end_ms), every_ms):
        age_s = (at_ms - window.start_ms) // 1000
        yield consumer.said(
            log, at_ms, "mark-0", "Watermark", f"publish {consumer.shard}={offset} (unchanged, {age_s} s)"
        )


def fetch_hiccups(stream: Stream, log: JavaLog, consumer: Consumer, window: Window, every_ms: int) -> Iterator[Entry]:
    """Harmless: brokers drop idle fetch sessions and connections, and the client opens them again."""
    for at_ms in ticks(stream, window, every_ms):
        node = stream.integer(1, 6)
        if stream.chance(0.5):
            epoch = stream.integer(10_000, 99_999)
            session = stream.integer(10**8, 10**9)
            message = (
                f"{consumer.tag} Error sending fetch request (sessionId={session}, epoch={epoch}) to node {node}: "
                "DisconnectException"
            )
            yield log.line(at_ms, "INFO", "poll-0", FETCHER, message)
        else:
            message = f"{consumer.tag} Node {node} disconnected."
            yield log.line(at_ms, "INFO", "poll-0", NETWORK, message)
