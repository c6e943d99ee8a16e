"""Hosts of one service run under different settings: a change reached some of them only."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.faults.kind import FaultKind, Seat, Spot, TriggerKind, Wording
from TokenOptEnv.task_defs.incident.generator.simulation.effect import Effect, RefusingHosts
from TokenOptEnv.task_defs.incident.vocabulary import FaultClass


def _effect(spot: Spot) -> Effect:
    hosts = len(spot.culprit.hosts) - 1
    return RefusingHosts(spot.culprit.name, spot.since_ms + 50_000, hosts=hosts, step_ms=20_000, share=92)


KIND = FaultKind(
    fault_class=FaultClass.CONFIG_DRIFT,
    seat=Seat.MIDDLE,
    effect=_effect,
    grave={"unlike": (2, 3), "refused": (4, 58)},
    calm={"unlike": (0, 0), "refused": (0, 1), "ms": (10, 34)},
    train=(
        Wording(
            topic="tenant map",
            trigger=TriggerKind.CONFIG,
            change="{svc}: tenant map moved to the new layout",
            diff=("-tenant_map: v3", "+tenant_map: v4"),
            in_effect="settings {trigger} applied on this host",
            telltale="caller not in our tenant map v4, sent away; siblings still read v3",
            pressure="checksum of settings differs on {unlike} hosts, {refused} sent away",
            mild="tenant map compared with siblings in {ms} ms, equal",
            state="apply stopped half way: unreachable hosts are skipped and not tried again",
            advice="Hosts that differ in the tenant map: apply the change to the skipped ones, or they drift again.",
            remedy="apply the settings to the skipped hosts of {svc}",
            says="hosts of {svc} disagree about the tenant map",
        ),
        Wording(
            topic="signing scheme",
            trigger=TriggerKind.CONFIG,
            change="{svc}: signing scheme for internal calls",
            diff=("-signing: hs256", "+signing: es256"),
            in_effect="{trigger} read from the local file",
            telltale="token verified under another signing scheme than this host has, 401",
            pressure="{refused} tokens refused, {unlike} hosts unlike the others",
            mild="signing scheme reread in {ms} ms, as on the others",
            state="file edited by hand on this host in spring, the rollout leaves edited files alone",
            advice="Edited files are left alone: remove the edit, then the signing scheme rolls out everywhere.",
            remedy="remove the hand edit on the hosts of {svc}",
            says="the signing scheme differs between hosts of {svc}",
        ),
    ),
    test=(
        Wording(
            topic="feature table",
            trigger=TriggerKind.CONFIG,
            change="{svc}: feature table trimmed",
            diff=("-features: [bulk, hold, split]", "+features: [bulk]"),
            in_effect="feature table of {trigger} mounted",
            telltale="capability absent from this node's feature table, bounced",
            pressure="nodes out of step {unlike}, bounced {refused}",
            mild="feature table hashed in {ms} ms, in step",
            state="nodes that joined before the trim still carry the full one",
            advice="Nodes out of step on the feature table: republish the full one, then trim callers first.",
            remedy="republish the full table to the nodes of {svc}",
            says="nodes of {svc} carry different feature tables",
        ),
        Wording(
            topic="unit system",
            trigger=TriggerKind.CONFIG,
            change="{svc}: unit system switched for new contracts",
            diff=("-units = metric", "+units = contract"),
            in_effect="parameter set {trigger} active on this node",
            telltale="payload declares another unit system than this node, not accepted",
            pressure="mismatch with {unlike} nodes of the group, {refused} not accepted",
            mild="unit system declared and matched, {ms} ms",
            state="two nodes were drained that night and kept the earlier parameter set",
            advice="If drained nodes kept an earlier unit system, reload those nodes; callers are right.",
            remedy="reload the parameter set on all nodes of {svc}",
            says="nodes of {svc} work in different unit systems",
        ),
    ),
)
