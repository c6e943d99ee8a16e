"""A cache goes cold at once, and everybody loads the same keys."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.faults.kind import FaultKind, Seat, Spot, TriggerKind, Wording
from TokenOptEnv.task_defs.incident.generator.simulation.effect import ColdCache, Effect
from TokenOptEnv.task_defs.incident.vocabulary import FaultClass


def _effect(spot: Spot) -> Effect:
    return ColdCache(spot.culprit.name, spot.since_ms + 75_000, slow_ms=7000)


KIND = FaultKind(
    fault_class=FaultClass.CACHE_STAMPEDE,
    seat=Seat.MIDDLE,
    effect=_effect,
    grave={"misses": (44, 99), "readers": (9, 61)},
    calm={"misses": (3, 9), "readers": (1, 2), "ms": (38, 95)},
    train=(
        Wording(
            topic="warm keys",
            trigger=TriggerKind.JOB,
            change="{cache}: sweep of old entries, warm keys of {svc} included",
            diff=("-match: {svc}/old/*", "+match: {svc}/*"),
            in_effect="sweep {trigger} went over our entries",
            telltale="no warm keys left, stood {ms} ms behind {readers} readers of the same entry",
            pressure="{misses} % of reads go to {store}, {readers} at once for one entry",
            mild="{misses} % of warm keys reloaded in {ms} ms",
            state="entries loaded since then live 20 s, the sweep comes round every 15 s",
            advice="When warm keys go faster than they load, stop the sweep; {store} is not the bottleneck.",
            remedy="stop the sweep over the entries of {svc}",
            says="a sweep took the warm keys of {svc} and all readers load at once",
        ),
        Wording(
            topic="same second",
            trigger=TriggerKind.CONFIG,
            change="{svc}: entries now expire in the same second, jitter off",
            diff=("-ttl: 300s +/- 60s", "+ttl: 300s"),
            in_effect="settings {trigger}: lifetime without jitter",
            telltale="{readers} loads of one entry in the same second, ours given up after {ms} ms",
            pressure="hit ratio {misses} points down, loads in flight {readers}",
            mild="two loads in the same second, {ms} ms",
            state="each wave ends and returns 300 s later, to the second",
            advice="Waves of loads in the same second want jitter: put it back before touching {store}.",
            remedy="give the entries of {svc} their jitter back",
            says="the entries of {svc} all expire in the same second",
        ),
    ),
    test=(
        Wording(
            topic="new namespace",
            trigger=TriggerKind.DEPLOY,
            change="{svc}: entries moved to a new namespace in {cache}",
            diff=('-NAMESPACE = "v6"', '+NAMESPACE = "v7"'),
            in_effect="rollout {trigger} switches readers over",
            telltale="new namespace empty, {readers} recomputations abreast, mine dropped at {ms} ms",
            pressure="{misses} of 100 lookups absent, recomputing {readers} abreast",
            mild="new namespace lookup absent, recomputed in {ms} ms",
            state="a single recomputation alone needs 7 s and holds the only lane",
            advice="A new namespace is filled by pointing readers at the old one until a preload is through.",
            remedy="point {svc} at its old namespace and preload",
            says="{svc} reads from an empty namespace and recomputes everything",
        ),
        Wording(
            topic="memo flush",
            trigger=TriggerKind.JOB,
            change="memo flush on {cache}, pattern widened to {svc}",
            diff=("-flush {svc}:draft:*", "+flush {svc}:*"),
            in_effect="notice of {trigger} received for our prefix",
            telltale="after the memo flush: {readers} of us rebuild one entry, out of patience at {ms} ms",
            pressure="rebuild lane {readers} deep, absent {misses} %",
            mild="memo flush of drafts, one entry rebuilt in {ms} ms",
            state="every rebuilt entry is gone again at the next turn of the timer",
            advice="A memo flush that eats live entries is disabled at its timer; scaling readers makes it worse.",
            remedy="disable the flush timer that covers {svc}",
            says="a memo flush empties what {svc} lives on",
        ),
    ),
)
