"""Nothing is wrong: a planned exercise did what it had announced. The page is its echo."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.faults.kind import FaultKind, Seat, Spot, TriggerKind, Wording
from TokenOptEnv.task_defs.incident.generator.simulation.effect import Effect, Exercise
from TokenOptEnv.task_defs.incident.vocabulary import NO_ACTION, FaultClass

LASTS_MS = 215_000


def _effect(spot: Spot) -> Effect:
    since_ms = spot.since_ms + 45_000
    return Exercise(spot.culprit.name, since_ms, until_ms=since_ms + LASTS_MS)


KIND = FaultKind(
    fault_class=FaultClass.NO_FAULT,
    seat=Seat.MIDDLE,
    effect=_effect,
    grave={"left": (4, 1), "turned": (3, 44)},
    calm={"left": (1, 4), "turned": (1, 3), "ms": (5, 20)},
    train=(
        Wording(
            topic="game day",
            trigger=TriggerKind.JOB,
            change="game day: {svc} hands over its lead, driver {low} to {high}, refusals up to 5 min",
            diff=("-drill: off", "+drill: {low}..{high}"),
            in_effect="game day {trigger} opened by its driver",
            telltale="refused for the game day, caller is its driver",
            pressure="handing over, {left} min left, {turned} driver calls refused",
            mild="game day of another cell noted, {ms} ms",
            state="handed over as planned, calls of customers refused: 0",
            advice="Refusals of a game day end with it: if no customer was refused, there is nothing to mend.",
            remedy=NO_ACTION,
            says="a game day refused its own driver's calls, as announced",
        ),
        Wording(
            topic="load rehearsal",
            trigger=TriggerKind.JOB,
            change="load rehearsal: {svc} closes for {low} to {high}, five minutes at most",
            diff=("-rehearse: never", "+rehearse: {low}..{high}"),
            in_effect="rehearsal {trigger} under way",
            telltale="closed to the load rehearsal, caller turned back as foreseen",
            pressure="{turned} turned back, {left} min to go",
            mild="load rehearsal elsewhere, ours untouched, {ms} ms",
            state="opened again on time, paying callers turned back: 0",
            advice="A load rehearsal that touched its own callers only is closed without further ado.",
            remedy=NO_ACTION,
            says="a load rehearsal turned its own callers back, as foreseen",
        ),
    ),
    test=(
        Wording(
            topic="failover test",
            trigger=TriggerKind.JOB,
            change="failover test of {svc}, synthetic callers {low} to {high} see errors for some minutes",
            diff=("-window: closed", "+window: {low}..{high}"),
            in_effect="failover test {trigger} in progress",
            telltale="failover test: synthetic caller gets its error",
            pressure="phase {left} of 4, synthetic errors {turned}",
            mild="failover test in a sibling ring seen, {ms} ms",
            state="roles swapped and swapped back, errors of real callers 0",
            advice="After a failover test with zero errors for real callers, no follow-up is due.",
            remedy=NO_ACTION,
            says="a failover test gave errors to synthetic callers alone",
        ),
        Wording(
            topic="chaos window",
            trigger=TriggerKind.JOB,
            change="chaos window on {svc}, probes {low} to {high} are rejected by design",
            diff=("-chaos: disarmed", "+chaos: {low}..{high}"),
            in_effect="armed by {trigger}",
            telltale="chaos window rejects a probe, by design",
            pressure="armed for {left} more min, probes rejected {turned}",
            mild="chaos window of a neighbour, not armed here, {ms} ms",
            state="disarmed, tally: probes only, nobody else rejected",
            advice="If the tally of a chaos window shows probes only, acknowledge and move on.",
            remedy=NO_ACTION,
            says="a chaos window rejected its own probes, by design",
        ),
    ),
)
