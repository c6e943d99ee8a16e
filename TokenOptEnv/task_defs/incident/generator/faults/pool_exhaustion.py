"""Connections to a store run out: something keeps them and gives none back."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.faults.kind import FaultKind, Seat, Spot, TriggerKind, Wording
from TokenOptEnv.task_defs.incident.generator.simulation.effect import Effect, HeldConnections
from TokenOptEnv.task_defs.incident.vocabulary import FaultClass


def _effect(spot: Spot) -> Effect:
    return HeldConnections(spot.culprit.name, spot.since_ms, every_ms=40_000)


KIND = FaultKind(
    fault_class=FaultClass.POOL_EXHAUSTION,
    seat=Seat.MIDDLE,
    effect=_effect,
    grave={"used": (2, 6), "waiting": (0, 9), "kept": (1, 6)},
    calm={"used": (1, 3), "waiting": (0, 0), "kept": (0, 1), "ms": (11, 46)},
    train=(
        Wording(
            topic="spare handles",
            trigger=TriggerKind.JOB,
            change="run of {job}: now reads {store} with the spare handles of {svc}",
            diff=("-  source: {store}/replica", "+  source: {svc}/handles"),
            in_effect="run {trigger} of {job} let in",
            telltale="gave up after {ms} ms, no spare handles, 6 of 6 are out",
            pressure="{used} of 6 out, {kept} of them with {job}",
            mild="short of spare handles for {ms} ms, then went on",
            state="asked {job} to hand back what it holds: {kept} still out, taken again at once",
            advice="Spare handles held by a run come back when it is stopped; after a restart it takes them again.",
            remedy="stop the {job} run that reads through {svc}",
            says="{job} keeps the spare handles of {svc}",
        ),
        Wording(
            topic="lease ceiling",
            trigger=TriggerKind.CONFIG,
            change="{svc}: lease ceiling towards {store} brought down",
            diff=("-lease_ceiling: 24", "+lease_ceiling: 6"),
            in_effect="settings {trigger} taken up",
            telltale="no lease on {store} within {ms} ms, {waiting} in line at the ceiling",
            pressure="leases on {store} {used}/6, {waiting} in line",
            mild="lease on {store} came after {ms} ms, well under the ceiling",
            state="{store} itself answers in 9 ms and has 180 sessions free",
            advice="If {store} has sessions free, give {svc} its lease ceiling back; no restart is needed.",
            remedy="put the lease ceiling of {svc} back",
            says="{svc} may hold too few leases on {store}",
        ),
    ),
    test=(
        Wording(
            topic="checkout slots",
            trigger=TriggerKind.DEPLOY,
            change="{svc}: statement streaming, checkout slots stay open while rows are sent",
            diff=("-    with slots.checkout() as conn:", "+    conn = slots.checkout()"),
            in_effect="release {trigger} up, streaming on",
            telltale="abandoned: {waiting} ahead of me for checkout slots, waited {ms} ms",
            pressure="slots in use {used} of 6; oldest untouched for {kept} min",
            mild="queued {ms} ms for checkout slots, served",
            state="slots freed by hand are all open again within a minute of traffic on {trigger}",
            advice="Checkout slots that are never returned need the earlier release; more of them only delay it.",
            remedy="return {svc} to the release before streaming",
            says="{svc} opens checkout slots that nothing returns",
        ),
        Wording(
            topic="session quota",
            trigger=TriggerKind.JOB,
            change="{job}: parallel readers moved under the session quota of {svc}",
            diff=("-readers.account = {job}", "+readers.account = {svc}"),
            in_effect="{job} joins our account, order {trigger}",
            telltale="{store} refuses a seventh session, session quota spent, {ms} ms lost",
            pressure="sessions {used}/6 under our account, {kept} opened by {job}",
            mild="session quota touched for {ms} ms, next one granted",
            state="{job} reopens every session that is cut, {kept} at the last look",
            advice="A session quota eaten by readers is won back by taking them off the account, not by cutting.",
            remedy="move the readers of {job} off the account of {svc}",
            says="readers of {job} eat up the session quota of {svc}",
        ),
    ),
)
