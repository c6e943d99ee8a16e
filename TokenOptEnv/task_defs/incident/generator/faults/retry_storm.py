"""One caller repeats its calls without rest, and what it calls never recovers from a slow moment."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.faults.kind import FaultKind, Seat, Spot, TriggerKind, Wording
from TokenOptEnv.task_defs.incident.generator.simulation.effect import Effect, Repetition
from TokenOptEnv.task_defs.incident.vocabulary import FaultClass


def _effect(spot: Spot) -> Effect:
    return Repetition(
        spot.culprit.name, spot.since_ms, target=spot.victim.name, most=3600 / spot.victim.work_ms, slow_for_ms=120_000
    )


KIND = FaultKind(
    fault_class=FaultClass.RETRY_STORM,
    seat=Seat.CALLER,
    effect=_effect,
    grave={"out": (14, 91), "ratio": (2, 9)},
    calm={"out": (1, 3), "ratio": (1, 1), "ms": (18, 60)},
    train=(
        Wording(
            topic="repeated attempts",
            trigger=TriggerKind.CONFIG,
            change="{svc}: repeated attempts towards {victim} without pause",
            diff=("-attempts: 2, pause: 500ms x2", "+attempts: 9, pause: 0"),
            in_effect="settings {trigger}: client of {victim} rebuilt",
            telltale="{tries} repeated attempts at {victim}, all late, giving up after {ms} ms",
            pressure="{ratio} calls out for each call in, {out} open",
            mild="repeated attempts: second of 2 went through after {ms} ms",
            state="{victim} idles within seconds when our calls are held back",
            advice="Where repeated attempts outnumber requests, slow the caller down; the called side is healthy.",
            remedy="give {svc} its pauses between calls back",
            says="{svc} repeats every call until {victim} cannot breathe",
            victim="{out} of the open calls come from {svc}, most of them repeats",
        ),
        Wording(
            topic="client backoff",
            trigger=TriggerKind.DEPLOY,
            change="{svc}: http library replaced, client backoff left to defaults",
            diff=("-    client = Client(backoff=exponential(base=0.4))", "+    client = Client()"),
            in_effect="{trigger} live, new client in use",
            telltale="call {tries} to {victim} without client backoff failed as well, {ms} ms gone",
            pressure="repeat ratio {ratio}, in flight {out}",
            mild="one call repeated after client backoff, {ms} ms",
            state="capping us at 20 calls a minute made {victim} answer in 30 ms",
            advice="Missing client backoff is the caller's release: undo it; more instances elsewhere only feed it.",
            remedy="undo the client release of {svc}",
            says="{svc} calls {victim} again and again without client backoff",
            victim="same ids arrive up to {ratio} times from {svc}, {out} open",
        ),
    ),
    test=(
        Wording(
            topic="hedged calls",
            trigger=TriggerKind.CONFIG,
            change="{svc}: hedged calls to {victim} from the first millisecond",
            diff=("-hedge.after_ms = 400", "+hedge.after_ms = 0"),
            in_effect="parameter set {trigger} took hold",
            telltale="{tries} hedged calls to {victim}, no winner after {ms} ms",
            pressure="{out} duplicates open, amplification {ratio}",
            mild="hedged calls: second one won in {ms} ms",
            state="with hedging muted for a minute {victim} is back at its usual pace",
            advice="Hedged calls that amplify are muted at their sender; restarting the target changes nothing.",
            remedy="mute the hedging in {svc}",
            says="hedged calls of {svc} multiply what {victim} must do",
            victim="duplicates from {svc}: {out} open, each original comes {ratio} times",
        ),
        Wording(
            topic="redrive policy",
            trigger=TriggerKind.CONFIG,
            change="{svc}: redrive policy for unanswered calls made immediate",
            diff=("-redrive: after 30s, once", "+redrive: at once, 8 times"),
            in_effect="redrive policy {trigger} loaded",
            telltale="redrive policy spent after {tries} towards {victim}, dropped at {ms} ms",
            pressure="{out} redriven and waiting, {ratio} per original",
            mild="redrive policy: answered at the first go, {ms} ms",
            state="{victim} has spare cores and works off its line whenever we pause",
            advice="If the redrive policy multiplies the line, restore its waiting time; the target needs nothing.",
            remedy="restore the waiting time of the redrive in {svc}",
            says="the redrive policy of {svc} buries {victim}",
            victim="line of {out}, {ratio} in a row carry the same key, sender {svc}",
        ),
    ),
)
