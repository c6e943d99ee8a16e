"""A host's clock runs away, and what is stamped or checked there no longer holds elsewhere."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.faults.kind import FaultKind, Seat, Spot, TriggerKind, Wording
from TokenOptEnv.task_defs.incident.generator.simulation.effect import Effect, RefusingHosts
from TokenOptEnv.task_defs.incident.vocabulary import FaultClass


def _effect(spot: Spot) -> Effect:
    hosts = len(spot.culprit.hosts) - 1
    return RefusingHosts(spot.culprit.name, spot.since_ms + 110_000, hosts=hosts, step_ms=15_000, share=94)


KIND = FaultKind(
    fault_class=FaultClass.CLOCK_SKEW,
    seat=Seat.MIDDLE,
    effect=_effect,
    grave={"ahead": (21, 190), "turned": (3, 52)},
    calm={"ahead": (0, 1), "turned": (0, 1), "ms": (8, 27)},
    train=(),
    test=(
        Wording(
            topic="time source",
            trigger=TriggerKind.CONFIG,
            change="{svc}: time source moved to the hypervisor",
            diff=("-server ntp-a.infra iburst", "+refclock PHC /dev/ptp0"),
            in_effect="time source of {trigger} selected",
            telltale="grant issued {ahead} s from now by our time source, turned down",
            pressure="offset to peers +{ahead} s, turned down {turned}",
            mild="time source within {ahead} s of peers, {ms} ms to check",
            state="stepping by hand held for two minutes, then it ran away again",
            advice="A time source that runs away after each step must be changed back; stepping only buys minutes.",
            remedy="change the time source of {svc} back",
            says="the time source of {svc} runs ahead of its peers",
        ),
        Wording(
            topic="leap smear",
            trigger=TriggerKind.JOB,
            change="{svc} hosts: leap smear test left running",
            diff=("-smear = off", "+smear = 24h linear"),
            in_effect="timekeeper follows {trigger}",
            telltale="nonce dated {ahead} s off by the leap smear, request voided",
            pressure="smear at {ahead} s and counting, voided {turned}",
            mild="leap smear off, stamps agree to {ahead} s, {ms} ms",
            state="hosts outside the test agree with each other to the millisecond",
            advice="End a leap smear test by its order and let hosts slew home; widening tolerances hides it.",
            remedy="end the smear test on the hosts of {svc}",
            says="a leap smear drags the hosts of {svc} away from the others",
        ),
        Wording(
            topic="wall time",
            trigger=TriggerKind.DEPLOY,
            change="{svc}: wall time read from the guest agent",
            diff=("-now = clock_gettime(CLOCK_REALTIME)", "+now = guest_agent.wall_time()"),
            in_effect="artefact {trigger} reads the agent",
            telltale="signature older than allowed by our wall time, {ahead} s apart, thrown out",
            pressure="wall time gap {ahead} s, thrown out {turned}",
            mild="wall time checked in {ms} ms, gap {ahead} s",
            state="kernel clocks are right on every host, the agent is what lags",
            advice="With kernel clocks right and wall time wrong, drop the agent by going back one artefact.",
            remedy="go back one artefact on {svc}",
            says="{svc} takes its wall time from a lagging agent",
        ),
    ),
)
