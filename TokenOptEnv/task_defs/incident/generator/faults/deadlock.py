"""Two parties hold what the other wants; a third of the work is cancelled to break the knot, over and over."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.faults.kind import FaultKind, Seat, Spot, TriggerKind, Wording
from TokenOptEnv.task_defs.incident.generator.simulation.effect import Effect, LockedWork
from TokenOptEnv.task_defs.incident.vocabulary import FaultClass


def _effect(spot: Spot) -> Effect:
    return LockedWork(spot.culprit.name, spot.since_ms + 60_000, wait_ms=5000, share=58)


KIND = FaultKind(
    fault_class=FaultClass.DEADLOCK,
    seat=Seat.MIDDLE,
    effect=_effect,
    grave={"knots": (2, 33), "held": (4, 29)},
    calm={"knots": (0, 1), "held": (0, 1), "ms": (14, 49)},
    train=(),
    test=(
        Wording(
            topic="row order",
            trigger=TriggerKind.DEPLOY,
            change="{svc}: bulk update, row order by amount",
            diff=("-ORDER BY id FOR UPDATE", "+ORDER BY amount FOR UPDATE"),
            in_effect="artefact {trigger} writes from now on",
            telltale="cancelled after {ms} ms as the younger of two that wait for each other, row order crossed",
            pressure="{knots} cycles broken this minute, {held} statements waiting",
            mild="row order respected, waited {ms} ms for a sibling",
            state="{store} has idle cores, each cycle is between two of our own statements",
            advice="Cycles from crossed row order end with the artefact before; {store} has nothing to tune.",
            remedy="bring {svc} back to ordering by id",
            says="statements of {svc} wait for each other in crossed row order",
        ),
        Wording(
            topic="advisory key",
            trigger=TriggerKind.JOB,
            change="{job}: takes the advisory key of {svc} before its own",
            diff=("-with own_key, shared_key:", "+with shared_key, own_key:"),
            in_effect="{job} announced as {trigger}",
            telltale="waited {ms} ms for the advisory key held by {job}, which waits for ours; we yield",
            pressure="mutual waits {knots}, parties {held}",
            mild="advisory key granted in {ms} ms",
            state="with {job} suspended for a moment not one wait is left",
            advice="A mutual wait over the advisory key dissolves when the job is suspended until its order is mended.",
            remedy="suspend {job} until its order is mended",
            says="{svc} and {job} wait for each other over an advisory key",
        ),
        Wording(
            topic="monitor pair",
            trigger=TriggerKind.DEPLOY,
            change="{svc}: second monitor around the ledger, monitor pair nested",
            diff=("-synchronized (ledger)", "+synchronized (audit) synchronized (ledger)"),
            in_effect="switched over to {trigger}",
            telltale="watchdog freed a thread after {ms} ms, monitor pair taken in opposite order",
            pressure="threads parked on each other {held}, freed {knots}",
            mild="monitor pair entered in {ms} ms",
            state="thread dumps three minutes apart show the same two frames facing each other",
            advice="Frames that face each other over a monitor pair leave with the release that nested them.",
            remedy="take out the release that nested the monitors of {svc}",
            says="threads of {svc} face each other over a monitor pair",
        ),
    ),
)
