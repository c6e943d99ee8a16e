"""Something is never freed: the process slows down until callers no longer wait for it."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.faults.kind import FaultKind, Seat, Spot, TriggerKind, Wording
from TokenOptEnv.task_defs.incident.generator.simulation.effect import Effect, SlowerWork
from TokenOptEnv.task_defs.incident.vocabulary import FaultClass


def _effect(spot: Spot) -> Effect:
    return SlowerWork(spot.culprit.name, spot.since_ms, full_ms=330_000, most=4200 / spot.culprit.work_ms)


KIND = FaultKind(
    fault_class=FaultClass.LEAK,
    seat=Seat.MIDDLE,
    effect=_effect,
    grave={"live": (41, 97), "count": (2100, 31800), "pause": (60, 3900)},
    calm={"live": (38, 52), "count": (900, 1900), "ms": (35, 88), "pause": (35, 88)},
    train=(
        Wording(
            topic="retained set",
            trigger=TriggerKind.DEPLOY,
            change="{svc}: parsed answers kept in a retained set per caller",
            diff=(
                "-        parsed = parse(answer)",
                "+        parsed = retained.setdefault(answer.key, parse(answer))",
            ),
            in_effect="build of {trigger} started",
            telltale="answered after {ms} ms, collector ran four times, retained set {live} % of heap",
            pressure="full collection {pause} ms, heap {live} % before and after",
            mild="collector took {ms} ms, retained set {live} % of heap as ever",
            state="restarted instance at 40 % of heap, at 90 % again ten minutes later",
            advice="A retained set that grows on one build only comes back after restarts: go to the build before.",
            remedy="roll {svc} back to the build before",
            says="the retained set of {svc} grows until it only collects",
        ),
        Wording(
            topic="open descriptors",
            trigger=TriggerKind.DEPLOY,
            change="{svc}: new client for attachments, open descriptors per part",
            diff=("-    with part.open() as source:", "+    source = part.open()"),
            in_effect="{trigger} running, 32768 descriptors allowed",
            telltale="answered after {ms} ms with {count} open descriptors, looking for a free one",
            pressure="open files {count}, sockets in CLOSE_WAIT {count}",
            mild="accept took {ms} ms with {count} open descriptors",
            state="raising the limit moved the slowdown by eleven minutes, the count still climbs",
            advice="Open descriptors that climb with traffic are not cured by a limit: take the release out.",
            remedy="take the newest release of {svc} out",
            says="{svc} never closes its open descriptors",
        ),
    ),
    test=(
        Wording(
            topic="message arena",
            trigger=TriggerKind.DEPLOY,
            change="{svc}: message arena reused between calls",
            diff=("-    arena.reset();", "+    // arena lives as long as the worker"),
            in_effect="image of {trigger} serving",
            telltale="reply late by {ms} ms, swapping, message arena at {live} % of the cgroup",
            pressure="memory.current {live} % of memory.max, swap in {pause} pages/s",
            mild="reply held {ms} ms, message arena at {live} % of the cgroup, steady",
            state="a fresh pod is as slow after nine minutes as the old ones",
            advice="A message arena that fills on a fresh pod too is the image's doing: redeploy the image before it.",
            remedy="redeploy the previous image of {svc}",
            says="the message arena of {svc} is never emptied",
        ),
        Wording(
            topic="live subscribers",
            trigger=TriggerKind.DEPLOY,
            change="{svc}: live subscribers kept per connection",
            diff=("-bus.off(conn.id)", "+// bus.off(conn.id) moved to shutdown"),
            in_effect="{trigger} took over traffic",
            telltale="tick took {ms} ms, notified {count} live subscribers one by one",
            pressure="event loop late by {pause} ms, {count} listeners",
            mild="tick took {ms} ms for {count} live subscribers",
            state="connections halved by the balancer, listeners went on climbing",
            advice="If live subscribers outnumber connections, only the older code frees them: reinstate it.",
            remedy="reinstate the older code of {svc}",
            says="{svc} keeps live subscribers of closed connections",
        ),
    ),
)
