"""A name no longer leads where it should, and those who look it up fail one by one as their copies run out."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.faults.kind import FaultKind, Seat, Spot, TriggerKind, Wording
from TokenOptEnv.task_defs.incident.generator.simulation.effect import Effect, RefusingHosts
from TokenOptEnv.task_defs.incident.vocabulary import FaultClass


def _effect(spot: Spot) -> Effect:
    return RefusingHosts(spot.victim.name, spot.since_ms + 70_000, hosts=3, step_ms=45_000, share=90)


KIND = FaultKind(
    fault_class=FaultClass.DNS,
    seat=Seat.RESOLVER,
    effect=_effect,
    grave={"denied": (3, 77), "copies": (1, 4)},
    calm={"denied": (0, 1), "copies": (0, 0), "ms": (3, 14)},
    train=(),
    test=(
        Wording(
            topic="zone file",
            trigger=TriggerKind.CONFIG,
            change="{svc}: zone file tidied, short names removed",
            diff=("-{store}  300  IN  CNAME  {store}.{cell}.int.", "+; {store} removed, see wiki"),
            in_effect="zone file of {trigger} loaded",
            telltale="zone file has no answer for {store}, NXDOMAIN sent to {victim}",
            pressure="NXDOMAIN {denied} this minute, {copies} askers gave up",
            mild="zone file reloaded in {ms} ms, serial unchanged",
            state="askers that still hold a copy work, those that asked again do not",
            advice="If only fresh askers fail, put the name back into the zone file; flushing copies spreads it.",
            remedy="put the removed name back into {svc}",
            says="{svc} lost a name that {victim} needs",
            victim="no such name {store}, as answered by {svc}, {copies} of our nodes",
        ),
        Wording(
            topic="suffix forwarder",
            trigger=TriggerKind.CONFIG,
            change="{svc}: suffix forwarder for internal names repointed",
            diff=("-forward int. 10.0.0.2", "+forward int. 10.0.0.20"),
            in_effect="forwarder table {trigger} installed",
            telltale="suffix forwarder silent, SERVFAIL for {store} given to {victim}",
            pressure="SERVFAIL {denied}, stale answers served to {copies}",
            mild="suffix forwarder answered in {ms} ms",
            state="asked directly, the old one still answers within a millisecond",
            advice="A silent suffix forwarder is pointed back; restarting those who ask only empties their copies.",
            remedy="point the forwarder of {svc} back",
            says="{svc} asks a forwarder that is not there",
            victim="{svc} cannot tell us where {store} is, {copies} nodes without address",
        ),
        Wording(
            topic="search suffix",
            trigger=TriggerKind.DEPLOY,
            change="{svc}: search suffix pushed to leases",
            diff=("-search {cell}.int", "+search corp.int {cell}.int"),
            in_effect="leases of {trigger} handed out",
            telltale="{store} under the new search suffix leads outside, given to {victim}",
            pressure="answers outside the cell {denied}, leases renewed {copies}",
            mild="search suffix tried in {ms} ms, first hit inside",
            state="full names work from every node, short ones lead to a test system",
            advice="When short names lead astray, take the search suffix out of the leases and renew them.",
            remedy="take the new suffix out of {svc} and renew leases",
            says="{svc} sends short names the wrong way by a search suffix",
            victim="{store} is not who answers, address came from {svc}, {copies} nodes concerned",
        ),
    ),
)
