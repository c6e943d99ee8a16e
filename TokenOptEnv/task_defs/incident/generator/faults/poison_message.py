"""One message can never be processed, is delivered again and again, and nothing passes it."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.faults.kind import FaultKind, Seat, Spot, TriggerKind, Wording
from TokenOptEnv.task_defs.incident.generator.simulation.effect import Effect, StuckItem
from TokenOptEnv.task_defs.incident.vocabulary import FaultClass


def _effect(spot: Spot) -> Effect:
    return StuckItem(spot.culprit.name, spot.since_ms, try_ms=17_000)


KIND = FaultKind(
    fault_class=FaultClass.POISON_MESSAGE,
    seat=Seat.WORKER,
    effect=_effect,
    grave={"times": (2, 38), "depth": (3, 10)},
    calm={"times": (1, 1), "depth": (0, 2), "ms": (22, 80)},
    train=(
        Wording(
            topic="redelivered item",
            trigger=TriggerKind.OBJECT,
            change="import for {svc}: 214 handed over, redelivered item {trigger} among them",
            diff=("-  {trigger}: parked", "+  {trigger}: ready"),
            in_effect="picked up {trigger} from the import",
            telltale="redelivered item {trigger}, {times} times now, crash while decoding, lane restarts",
            pressure="lane position unchanged, {depth} waiting behind it",
            mild="one redelivered item, through in {ms} ms",
            state="the lane moves for as long as the item is held out, then stands again",
            advice="A redelivered item that never ends is put aside by its id; a restart begins with it again.",
            remedy="put the item aside that blocks {svc}",
            says="{trigger} crashes {svc} each time it is redelivered",
            victim="cannot enqueue, {depth} before us, {svc} has been at the same item {times} times",
        ),
        Wording(
            topic="dead letter",
            trigger=TriggerKind.OBJECT,
            change="{svc}: dead letter {trigger} returned to the queue after a schema fix",
            diff=("-dead_letter: [{trigger}]", "+dead_letter: []"),
            in_effect="{trigger} received again",
            telltale="schema of {trigger} not readable, thrown {times} times, dead letter off",
            pressure="offset stands, lag {depth}",
            mild="a dead letter written in {ms} ms, went on",
            state="the schema fix is for version 5, the item carries version 4",
            advice="What the fix does not cover goes back to the dead letter box by id; do not skip the whole lane.",
            remedy="return the item to the box of {svc}",
            says="{svc} throws on {trigger} for ever",
            victim="publishing waits, {svc} stands at one offset, {depth} queued",
        ),
    ),
    test=(
        Wording(
            topic="bounced envelope",
            trigger=TriggerKind.OBJECT,
            change="replay to {svc}: bounced envelope {trigger} put first",
            diff=("-replay.skip = {trigger}", "+replay.skip ="),
            in_effect="envelope {trigger} at the head of the log",
            telltale="bounced envelope {trigger}: decoder panics, try {times}",
            pressure="cursor fixed, {depth} records unread",
            mild="bounced envelope parsed at the second go, {ms} ms",
            state="a decoder two versions older panics at the very same byte",
            advice="When every decoder panics on a bounced envelope, tombstone its id; downgrading wastes time.",
            remedy="tombstone the envelope in the log of {svc}",
            says="envelope {trigger} makes the decoder of {svc} panic",
            victim="log full at {depth}, reader {svc} has not moved its cursor in {times} tries",
        ),
        Wording(
            topic="oversized frame",
            trigger=TriggerKind.OBJECT,
            change="bulk hand-in for {svc}, oversized frame {trigger} accepted under an exemption",
            diff=("-frame_limit: 1 MiB", "+frame_limit: 1 MiB, exempt {trigger}"),
            in_effect="frame {trigger} accepted for processing",
            telltale="oversized frame {trigger} ends the process, {times} so far, supervisor restarts it",
            pressure="head of line unchanged, {depth} queued up",
            mild="oversized frame turned down, {ms} ms",
            state="memory doubled on one node, the frame ends it just the same",
            advice="An oversized frame is pulled from the head of the line by id; memory does not help.",
            remedy="pull the frame from the line of {svc}",
            says="{trigger} kills {svc} again and again",
            victim="handing over stalls, {svc} restarts on its first frame, {depth} queued",
        ),
    ),
)
