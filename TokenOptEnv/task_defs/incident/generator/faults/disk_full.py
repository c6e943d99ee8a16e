"""A volume fills up, and what must be written can no longer be."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.faults.kind import FaultKind, Seat, Spot, TriggerKind, Wording
from TokenOptEnv.task_defs.incident.generator.simulation.effect import Effect, RefusingHosts
from TokenOptEnv.task_defs.incident.vocabulary import FaultClass


def _effect(spot: Spot) -> Effect:
    hosts = max(2, len(spot.culprit.hosts) - 1)
    return RefusingHosts(spot.culprit.name, spot.since_ms + 140_000, hosts=hosts, step_ms=25_000, share=88)


KIND = FaultKind(
    fault_class=FaultClass.DISK_FULL,
    seat=Seat.MIDDLE,
    effect=_effect,
    grave={"used": (91, 100), "free": (1900, 0)},
    calm={"used": (71, 84), "free": (4100, 9800), "ms": (14, 52)},
    train=(
        Wording(
            topic="body spool",
            trigger=TriggerKind.CONFIG,
            change="{svc}: all requests kept in the body spool for debugging",
            diff=("-spool.keep: failed", "+spool.keep: all"),
            in_effect="settings {trigger}: keeping all bodies",
            telltale="cannot append to the body spool, no space left on device, call turned away",
            pressure="/var/spool at {used} %, {free} MB free",
            mild="body spool flushed in {ms} ms, {used} % in use",
            state="a cleared volume is at 100 % again after six minutes",
            advice="A body spool that refills is emptied for good by keeping fewer bodies, not by a larger volume.",
            remedy="let {svc} keep failed bodies only",
            says="the body spool of {svc} has filled its volume",
        ),
        Wording(
            topic="segments volume",
            trigger=TriggerKind.JOB,
            change="run of {job}: scratch copies on the segments volume of {svc}",
            diff=("-scratch: /mnt/scratch", "+scratch: /mnt/segments"),
            in_effect="{job} mounted by run {trigger}",
            telltale="write of segment failed, segments volume out of blocks",
            pressure="segments volume {used} %, {free} MB left",
            mild="segments volume synced in {ms} ms, {free} MB left",
            state="of what lies there, 61 % belongs to {job} and is no longer open",
            advice="Copies of a run on the segments volume may be deleted once closed; do not shrink retention.",
            remedy="delete the copies of {job} from the volume of {svc}",
            says="copies of {job} fill the segments volume of {svc}",
        ),
    ),
    test=(
        Wording(
            topic="journal inodes",
            trigger=TriggerKind.CONFIG,
            change="{svc}: journal split per caller, journal inodes not capped",
            diff=("-journal.shards = 16", "+journal.shards = per-caller"),
            in_effect="revision {trigger} reshaped the journal",
            telltale="ENOSPC though {free} MB free: journal inodes used up, request dropped",
            pressure="inodes {used} % on /data, growing by the minute",
            mild="journal inodes {used} %, rotation done in {ms} ms",
            state="bytes are plentiful, files are four million and small",
            advice="With journal inodes used up and bytes to spare, reshape the journal; a larger disk does not help.",
            remedy="reshape the journal of {svc} to fixed shards",
            says="{svc} has used up its journal inodes",
        ),
        Wording(
            topic="core dumps",
            trigger=TriggerKind.DEPLOY,
            change="{svc}: core dumps written next to the data for diagnosis",
            diff=("-LimitCORE=0", "+LimitCORE=infinity"),
            in_effect="unit restarted with {trigger}",
            telltale="fsync failed, device full under core dumps, reply withheld",
            pressure="/data {used} % taken, {free} MB remain",
            mild="core dumps absent, fsync {ms} ms, {free} MB remain",
            state="removing them helps until the next helper crashes, about four minutes",
            advice="Where core dumps eat the data disk, set the limit back to zero and then remove them.",
            remedy="forbid core dumps of {svc} and remove them",
            says="core dumps have filled the data disk of {svc}",
        ),
    ),
)
