"""A consumer falls behind, its queue fills, and those who publish to it must wait."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.faults.kind import FaultKind, Seat, Spot, TriggerKind, Wording
from TokenOptEnv.task_defs.incident.generator.simulation.effect import Effect, SlowerWork
from TokenOptEnv.task_defs.incident.vocabulary import FaultClass


def _effect(spot: Spot) -> Effect:
    return SlowerWork(spot.culprit.name, spot.since_ms, full_ms=1, most=26_000 / spot.culprit.work_ms)


KIND = FaultKind(
    fault_class=FaultClass.QUEUE_BACKPRESSURE,
    seat=Seat.WORKER,
    effect=_effect,
    grave={"depth": (3, 10), "age": (6, 240)},
    calm={"depth": (0, 2), "age": (0, 3), "ms": (24, 71)},
    train=(
        Wording(
            topic="prefetch depth",
            trigger=TriggerKind.CONFIG,
            change="{svc}: prefetch depth raised for throughput, acknowledged per batch",
            diff=("-prefetch: 4", "+prefetch: 64"),
            in_effect="settings {trigger}: channel reopened",
            telltale="prefetch depth reached, one lane works {ms} ms on an item, nothing acknowledged",
            pressure="unacknowledged {depth}, oldest {age} s",
            mild="prefetch depth back to 0 in {ms} ms, oldest {age} s",
            state="more instances joined and stood idle, the items are all held by one",
            advice="If one instance holds everything by its prefetch depth, lower it; further instances stay idle.",
            remedy="lower the prefetch of {svc} again",
            says="{svc} takes more than it can finish and the queue stands",
            victim="publish held back, queue {depth} of 10 full, consumer {svc} is not acknowledging",
        ),
        Wording(
            topic="synchronous copy",
            trigger=TriggerKind.DEPLOY,
            change="{svc}: synchronous copy to the archive before acknowledging",
            diff=("-    archive.send_later(item)", "+    archive.send(item).wait()"),
            in_effect="build of {trigger} consuming",
            telltale="item took {ms} ms, most of it in the synchronous copy",
            pressure="backlog {depth}, head is {age} s old",
            mild="synchronous copy checked in {ms} ms, head {age} s old",
            state="archive answers steadily in 25 s as it always has; nobody used to wait for it",
            advice="If the archive was never fast, take the synchronous copy out of the consumer and leave the queue.",
            remedy="take the copy out of {svc} by undoing its build",
            says="{svc} waits for the archive with every item and falls behind",
            victim="no room for our item, {depth} lie ahead, {svc} takes one in {age} s",
        ),
    ),
    test=(
        Wording(
            topic="window size",
            trigger=TriggerKind.CONFIG,
            change="{svc}: window size of the stream joined to the hour",
            diff=("-window = 30s", "+window = 1h"),
            in_effect="stream graph rebuilt under {trigger}",
            telltale="window size exceeds the buffer, record worked on for {ms} ms",
            pressure="buffer {depth} of 10, watermark {age} s behind",
            mild="window size fits, record worked off in {ms} ms",
            state="upstream rate is that of any weekday, no burst in sight",
            advice="At a usual rate a blocked buffer asks for the former window size, not for more partitions.",
            remedy="set the window of {svc} to its former length",
            says="{svc} cannot close its windows and blocks its producers",
            victim="send blocked for credit, {svc} grants none, {depth} parked",
        ),
        Wording(
            topic="strict order",
            trigger=TriggerKind.DEPLOY,
            change="{svc}: strict order across all keys",
            diff=("-lanes = key.hash % 16", "+lanes = 1"),
            in_effect="artefact {trigger} began to consume",
            telltale="strict order: record held {ms} ms until its elder is through",
            pressure="held back {depth}, the eldest since {age} s",
            mild="strict order kept at no cost, {ms} ms",
            state="fifteen of sixteen lanes have been empty since the artefact came",
            advice="Lanes that stand empty under strict order come back with the artefact before; scaling does not.",
            remedy="bring back the sixteen lanes of {svc}",
            says="{svc} puts all records through one lane and jams",
            victim="append refused for now, {svc} leaves {depth} uncollected",
        ),
    ),
)
