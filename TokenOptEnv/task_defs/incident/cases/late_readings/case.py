"""The late-readings case: three legs, and what the last one needs is seen in the first and wiped at six."""

from __future__ import annotations

from typing import Final

from TokenOptEnv.config import Difficulty
from TokenOptEnv.models import ArtifactKind, Slot
from TokenOptEnv.scenario import CacheValidity, QuestionKind, Scenario
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply
from TokenOptEnv.task_defs.incident.cases.late_readings import (
    disk_accounts,
    nights,
    papers,
    scheduler_audit,
    service_logs,
)
from TokenOptEnv.task_defs.incident.cases.late_readings.nights import FIRST, SECOND
from TokenOptEnv.task_defs.incident.vocabulary import (
    FAULT_CLASS,
    REMEDIATION,
    SERVICE,
    TRIGGER,
    Conclusion,
    Diagnosis,
    FaultClass,
    ask_for_diagnosis,
)

SCENARIO_ID: Final = nights.SCENARIO_ID

FIRST_TICKET: Final = "ticket-tw-311"
FIRST_CHAT: Final = "chat-night-1"
STORE_NORTH: Final = "log-store-north"
INGEST: Final = "log-ingest-north"
DISKS_B: Final = "log-disks-rack-b"
FIRST_DEPLOYS: Final = "deploys-10-july"

SECOND_TICKET: Final = "ticket-tw-314"
SECOND_CHAT: Final = "chat-night-2"
STORE_SOUTH: Final = "log-store-south"
ROUTER: Final = "log-router-south"
DISKS_D: Final = "log-disks-rack-d"
TIDES: Final = "metrics-tides"
SECOND_DEPLOYS: Final = "deploys-11-july"

AUDIT: Final = "audit-scheduler"
JOBS: Final = "config-batch-jobs"
CHANGES: Final = "changes-batch"
PLATFORM_CHAT: Final = "chat-platform"
MAPS_TICKET: Final = "ticket-maps-77"
RUNBOOK: Final = "runbook-nodes"

NODE: Final = "node"
SLICE: Final = "slice_id"

CAP: Final = "cap the disk writes of coast-tiles"
MOVE: Final = "move the stalled shards to other nodes"
STOP_TILES: Final = "stop coast-tiles until the tide has passed"
STOP_ARCHIVE: Final = "move cold-copy back to the evening"
ROLL_BACK_ROUTER: Final = "roll back warn-router"
SHORTER_GROUP: Final = "undo the longer wal group of gauge-store"
PATIENCE: Final = "lengthen the wal sync timeout"

_TILES_RUN = scheduler_audit.run_of(FIRST.stranger)


def build() -> Scenario:
    case = CaseBuilder(
        scenario_id=SCENARIO_ID,
        family="incident",
        difficulty=Difficulty.MARATHON,
        title="Tide readings come late, two nights running",
        brief=(
            "On the nights to 10 and 11 July 2025, at spring tide, readings of the tide gauges reached the flood "
            "warning late, again and again, each night on another part of the coast. Say which service is at fault, "
            "the class of fault, the id of what set it off, and what to do next."
        ),
        version=nights.VERSION,
    )
    _add_artifacts(case)
    _add_facts(case)
    _add_decoys(case)
    _add_questions(case)
    _add_cache(case)
    _add_phases(case)
    return case.build()


def _add_artifacts(case: CaseBuilder) -> None:
    case.artifact(FIRST_TICKET, ArtifactKind.TICKET, "TW-311: readings of the north late", papers.first_ticket())
    case.artifact(FIRST_CHAT, ArtifactKind.CHAT, "#tidewatch-night, 10 July", papers.first_chat())
    case.artifact(STORE_NORTH, ArtifactKind.LOG, "gauge-store north, 01:40 to 03:20", service_logs.store_log(FIRST))
    case.artifact(INGEST, ArtifactKind.LOG, "gauge-ingest north, 01:40 to 03:20", service_logs.ingest_log(FIRST))
    case.artifact(DISKS_B, ArtifactKind.LOG, "disk accounts of rack b, slices by MB/s", disk_accounts.accounts(FIRST))
    case.artifact(FIRST_DEPLOYS, ArtifactKind.HISTORY, "deploys of the coast to 10 July", papers.first_deploys())

    case.artifact(SECOND_TICKET, ArtifactKind.TICKET, "TW-314: south coast late", papers.second_ticket())
    case.artifact(SECOND_CHAT, ArtifactKind.CHAT, "#tidewatch-night, 11 July", papers.second_chat())
    case.artifact(STORE_SOUTH, ArtifactKind.LOG, "gauge-store south, 01:34 to 04:00", service_logs.store_log(SECOND))
    case.artifact(ROUTER, ArtifactKind.LOG, "warn-router south, 01:34 to 04:00", service_logs.router_log(SECOND))
    case.artifact(DISKS_D, ArtifactKind.LOG, "disk accounts of rack d, slices by MB/s", disk_accounts.accounts(SECOND))
    case.artifact(TIDES, ArtifactKind.METRICS, "water, load and stalls by 10 minutes", papers.tides())
    case.artifact(SECOND_DEPLOYS, ArtifactKind.HISTORY, "deploys of the coast to 11 July", papers.second_deploys())

    case.artifact(AUDIT, ArtifactKind.LOG, "batch scheduler audit, 8 to 11 July", scheduler_audit.audit())
    case.artifact(JOBS, ArtifactKind.CONFIG, "batch jobs as scheduled", papers.BATCH_JOBS)
    case.artifact(CHANGES, ArtifactKind.DIFF, "settings repository, 4 to 10 July", papers.batch_changes())
    case.artifact(PLATFORM_CHAT, ArtifactKind.CHAT, "#platform, 11 July", papers.platform_chat())
    case.artifact(MAPS_TICKET, ArtifactKind.TICKET, "MAPS-77: flood map ready earlier", papers.maps_ticket())
    case.artifact(RUNBOOK, ArtifactKind.RUNBOOK, "nodes and shared disks", papers.platform_runbook())


def surge_facts() -> dict[str, Quote]:
    """By fact of the second night: what disk, store and router show of one surge."""
    found: dict[str, Quote] = {}
    for surge in SECOND.surges:
        found[f"disk-{surge.number}"] = Quote(DISKS_D, disk_accounts.busy_span(SECOND, surge))
        found[f"store-{surge.number}"] = Quote(STORE_SOUTH, service_logs.stall_span(SECOND, surge))
        found[f"router-{surge.number}"] = Quote(ROUTER, service_logs.held_span(SECOND, surge))
    return found


def _taken_facts() -> dict[str, Quote]:
    """By fact of the first night: who had the disk in one surge."""
    return {f"taken-{surge.number}": Quote(DISKS_B, disk_accounts.busy_span(FIRST, surge)) for surge in FIRST.surges}


def _add_facts(case: CaseBuilder) -> None:
    first_surge = FIRST.surges[0]
    case.fact(
        "first-stall",
        "the first sync that stalled was of shard s07",
        Quote(STORE_NORTH, service_logs.stall_span(FIRST, first_surge)),
    )
    case.fact(
        "led-on",
        "s07 is led on n-14",
        Quote(STORE_NORTH, service_logs.lead_span(FIRST, nights.FIRST_STALLED_SHARD)),
    )
    for fact_id, quote in _taken_facts().items():
        case.fact(fact_id, "while shards on n-14 waited, one slice had its disk", quote)
    for fact_id, quote in surge_facts().items():
        case.fact(fact_id, "one surge of the second night, as one of three logs shows it", quote)
    case.fact("bound", "the slice was a pod of this run", Quote(AUDIT, scheduler_audit.bound_span(FIRST.stranger)))
    case.fact("owned", "the run was tile-baker's", Quote(AUDIT, scheduler_audit.created_span(_TILES_RUN)))
    case.fact("unclassed", "the change takes the disk class away", Quote(CHANGES, "-io_class: idle"))
    case.fact("unlimited", "without a class there is no disk limit", Quote(JOBS, "a job without io_class is under no"))
    case.fact("adopted", "it took effect hours before the first night", Quote(AUDIT, scheduler_audit.ADOPTED))
    case.fact(
        "cap-live", "the class can be given back without a restart", Quote(RUNBOOK, "`batch class <job> idle` caps")
    )
    case.fact(
        "due", "capped, the map was always in time", Quote(MAPS_TICKET, "it was ready at 04:10, every day since 2023")
    )
    case.fact("watch", "the tide and the watch last", Quote(PLATFORM_CHAT, "flood watch both stand until sunday"))
    case.fact(
        "not-moved",
        "shards must stay while the tide lasts",
        Quote(RUNBOOK, "While a spring tide lasts no shard is moved"),
    )


def _add_decoys(case: CaseBuilder) -> None:
    case.decoy(
        "radio-late",
        "a reading that was late in the air",
        Quote(INGEST, service_logs.RADIO_LATE),
        Quote(FIRST_CHAT, "shard s03, and s03 is on n-11"),
    )
    case.decoy("slow-compaction", "an ordinary slow compaction", Quote(STORE_NORTH, service_logs.compaction_span()))
    case.decoy(
        "busy-n17",
        "a busy disk on which nobody waits",
        Quote(FIRST_CHAT, "one slice writes 400 MB/s there"),
        Quote(DISKS_B, f"n-17 ok {nights.ARCHIVE_SLICE}:"),
    )
    case.decoy("own-writes", "the store's own writes", Quote(DISKS_B, f"n-14 ok {nights.STORE_SLICE}:"))
    case.decoy(
        "router-deploy",
        "a router deploy six minutes before",
        Quote(SECOND_TICKET, "warn-router went to dep-889 at 01:38"),
        Quote(SECOND_DEPLOYS, "dep-889  warn-router"),
        Quote(ROUTER, "dep-889 starting"),
    )
    case.decoy(
        "outbox-high",
        "an outbox that is never full",
        Quote(SECOND_TICKET, "OutboxHigh warn-router"),
        Quote(SECOND_CHAT, "outbox of the router is at 4100 of 5000"),
    )
    case.decoy(
        "volume-high",
        "a volume that fills slowly, on another node",
        Quote(SECOND_TICKET, "VolumeHigh n-20"),
        Quote(SECOND_CHAT, "n-20 volume at 86 %"),
    )
    case.decoy(
        "tide",
        "high water brings more readings",
        Quote(SECOND_TICKET, "Readings at three times the usual rate"),
        Quote(SECOND_CHAT, "is it just the tide?"),
    )
    case.decoy(
        "archive-hour",
        "the archive is copied at the same hour",
        Quote(CHANGES, "cold-copy: at two, when the link is free"),
        Quote(PLATFORM_CHAT, "archive-sync copies at two, since wednesday"),
    )
    case.decoy(
        "near-id",
        "an archive pod with an id much like it",
        Quote(AUDIT, scheduler_audit.bound_span(scheduler_audit.NEAR_UID)),
    )
    case.decoy("ensemble", "the surge model runs by night too", Quote(JOBS, "owner: surge-model"))
    case.decoy(
        "wal-group",
        "a change of the store's own, a week before",
        Quote(CHANGES, "+wal.group_ms: 20"),
        Quote(PLATFORM_CHAT, "we made the wal wait longer for company"),
    )
    case.decoy("move-advice", "the runbook's first advice", Quote(RUNBOOK, "move them to another node, 40 min each"))
    case.decoy("stop-advice", "the runbook on heavy jobs", Quote(RUNBOOK, "A job is stopped with `batch stop <job>`"))


def _add_questions(case: CaseBuilder) -> None:
    neighbour = FaultClass.NOISY_NEIGHBOUR.value
    ask_for_diagnosis(
        case,
        Diagnosis(
            service=Conclusion((scheduler_audit.TILES,), ("bound", "owned")),
            fault_class=Conclusion((neighbour,), ("disk-1", "store-1", "router-1")),
            trigger=Conclusion((papers.CHANGE, papers.CHANGE.removeprefix("chg-")), ("unclassed", "adopted")),
            remediation=Conclusion((CAP,), ("cap-live", "due")),
        ),
        services=(
            scheduler_audit.ARCHIVE,
            "edge",
            "gauge-ingest",
            "gauge-store",
            scheduler_audit.REPORTS,
            scheduler_audit.MODEL,
            scheduler_audit.TILES,
            "warn-router",
        ),
        remediations=(CAP, MOVE, PATIENCE, ROLL_BACK_ROUTER, SHORTER_GROUP, STOP_ARCHIVE, STOP_TILES),
    )
    _ask_about_the_first_night(case)
    _ask_about_the_second_night(case, neighbour)
    _ask_on_the_day_after(case)


def _ask_about_the_first_night(case: CaseBuilder) -> None:
    case.subtask(
        "where",
        "Which node leads the shard whose wal sync stalled first that night?",
        (NODE,),
        QuestionKind.LOOKUP,
        lexical=True,
        needs=("first-stall", "led-on"),
        right=Reply({NODE: FIRST.node}, "Shard s07 stalled first, just after 02:06, and is led on n-14."),
        wrong=(
            Reply({NODE: "n-11"}, "Shard s03 was late first, and is led on n-11.", ("radio-late", "slow-compaction")),
            Reply({NODE: "n-17"}, "The busiest disk of the rack is on n-17.", ("busy-n17",)),
        ),
    )
    case.subtask(
        "who",
        "While nvme1 of {node} was busy, all three times: which slice wrote most?",
        (SLICE,),
        QuestionKind.CAUSAL,
        lexical=True,
        needs=tuple(_taken_facts()),
        right=Reply(
            {SLICE: FIRST.stranger},
            "Each time slice 7c41f0d2 writes some 900 MB/s to the disk of n-14, and at no other time anything.",
        ),
        wrong=(
            Reply({SLICE: nights.ARCHIVE_SLICE}, "Slice e09a77c4 writes 400 MB/s for an hour.", ("busy-n17",)),
            Reply({SLICE: nights.STORE_SLICE}, "Slice 1f0c22ab leads the list of n-14 all night.", ("own-writes",)),
            Reply({SLICE: "system"}, "The system slice writes whenever shards wait."),
        ),
        slot=Slot(name=NODE, from_subtask_id="where"),
        slot_value=FIRST.node,
    )


def _ask_about_the_second_night(case: CaseBuilder, neighbour: str) -> None:
    case.subtask(
        "joins",
        "Take all stalls of the night together, those of store, router and disk: which class of fault joins them?",
        (FAULT_CLASS,),
        QuestionKind.CAUSAL,
        lexical=False,
        needs=tuple(surge_facts()),
        right=Reply(
            {FAULT_CLASS: neighbour},
            "Eight times a slice that is neither store nor router takes the disk of n-22; both wait until it stops.",
        ),
        wrong=(
            Reply(
                {FAULT_CLASS: FaultClass.BAD_DEPLOY.value}, "It began with dep-889 of the router.", ("router-deploy",)
            ),
            Reply(
                {FAULT_CLASS: FaultClass.QUEUE_BACKPRESSURE.value},
                "The outbox fills up and everything before it waits.",
                ("outbox-high", "tide"),
            ),
            Reply(
                {FAULT_CLASS: FaultClass.DISK_FULL.value},
                "The volume is nearly full, and writes stall.",
                ("volume-high",),
            ),
            Reply({FAULT_CLASS: FaultClass.DEADLOCK.value}, "Store and router hold what the other waits for."),
        ),
    )


def _ask_on_the_day_after(case: CaseBuilder) -> None:
    case.subtask(
        "owner",
        "Whose work ran in slice {slice_id}, by pod, run and owner?",
        (SERVICE,),
        QuestionKind.LOOKUP,
        lexical=True,
        needs=("bound", "owned"),
        right=Reply(
            {SERVICE: scheduler_audit.TILES},
            f"Pod 7c41f0d2 was bound to n-14 for run {_TILES_RUN.run}, a coast-tiles run of tile-baker.",
        ),
        wrong=(
            Reply({SERVICE: scheduler_audit.ARCHIVE}, "It was a pod of the archive.", ("near-id", "archive-hour")),
            Reply({SERVICE: scheduler_audit.MODEL}, "It was a member of the nightly ensemble.", ("ensemble",)),
            Reply({SERVICE: scheduler_audit.REPORTS}, "It drew the tide tables."),
        ),
        slot=Slot(name=SLICE, from_subtask_id="who"),
        slot_value=FIRST.stranger,
    )
    case.subtask(
        "change",
        "Which change made the work of {service} so heavy on shared disks?",
        (TRIGGER,),
        QuestionKind.CAUSAL,
        lexical=False,
        needs=("unclassed", "unlimited", "adopted"),
        right=Reply(
            {TRIGGER: papers.CHANGE},
            "chg-3107 gave coast-tiles sixteen writers and took its disk class away; adopted 9 July, 23:10.",
        ),
        wrong=(
            Reply({TRIGGER: papers.ARCHIVE_CHANGE}, "chg-3109 moved the copy into the night.", ("archive-hour",)),
            Reply({TRIGGER: papers.STORE_CHANGE}, "chg-3102 lets wal writes wait for company.", ("wal-group",)),
            Reply({TRIGGER: "chg-3112"}, "chg-3112 added work to the nightly reports."),
        ),
        slot=Slot(name=SERVICE, from_subtask_id="owner"),
        slot_value=scheduler_audit.TILES,
    )
    case.subtask(
        "repair",
        "With spring tide and flood watch on: to let shards write again, move them, stop the job, or a class that caps "
        "what it writes, so that the map is still ready?",
        (REMEDIATION,),
        QuestionKind.CAUSAL,
        lexical=True,
        needs=("cap-live", "due", "not-moved", "watch"),
        right=Reply(
            {REMEDIATION: CAP},
            "The idle class caps it at once; so it ran for years and the map was in time. Shards may not be moved now.",
        ),
        wrong=(
            Reply({REMEDIATION: MOVE}, "Move them to another node.", ("move-advice",)),
            Reply({REMEDIATION: STOP_TILES}, "Stop the job, it can wait.", ("stop-advice",)),
            Reply({REMEDIATION: STOP_ARCHIVE}, "Copy in the evening again.", ("archive-hour",)),
            Reply({REMEDIATION: SHORTER_GROUP}, "Let the wal write at once again.", ("wal-group",)),
            Reply({REMEDIATION: PATIENCE}, "Give slow syncs more time."),
        ),
    )


def _add_cache(case: CaseBuilder) -> None:
    case.cached(
        "cache-5521",
        "change",
        "Which change made coast-tiles so heavy on shared disks?",
        {TRIGGER: papers.CHANGE},
        "chg-3107: sixteen writers, no disk class, adopted 9 July.",
        nights.VERSION,
        1,
        (
            Quote(CHANGES, "-io_class: idle"),
            Quote(JOBS, "a job without io_class is under no"),
            Quote(AUDIT, scheduler_audit.ADOPTED),
        ),
        CacheValidity.VALID,
    )
    case.cached(
        "cache-5498",
        "change",
        "Which change made work so heavy on the disks that nodes share?",
        {TRIGGER: papers.STORE_CHANGE},
        "Waiting for company made wal writes pile up.",
        nights.VERSION,
        142,
        (Quote(CHANGES, "+wal.group_ms: 20"),),
        CacheValidity.STALE,
    )
    case.cached(
        "cache-5407",
        "where",
        "Which node leads the shard that stalled first?",
        {NODE: "n-17"},
        "n-17, whose disk is the busiest of the rack.",
        "tidewatch-2025.21",
        1190,
        (Quote(STORE_NORTH, service_logs.lead_span(FIRST, "s12")),),
        CacheValidity.WRONG_VERSION,
    )
    case.cached(
        "cache-5530",
        "joins",
        "Which class of fault joins the stalls of store and router?",
        {FAULT_CLASS: FaultClass.QUEUE_BACKPRESSURE.value},
        "The outbox of format 3 filled up in the rehearsal.",
        "tidewatch-2025.29-rc1",
        3,
        (Quote(ROUTER, "dep-889 starting"),),
        CacheValidity.WRONG_VERSION,
    )


def _add_phases(case: CaseBuilder) -> None:
    case.phase(
        "first-night",
        "10 July 2025, 04:10 UTC. Three times since two o'clock readings of the north coast waited for minutes. The "
        "logs of the night are wiped at six. Find the node where it began, and who had its disk.",
        (FIRST_TICKET, FIRST_CHAT, STORE_NORTH, INGEST, DISKS_B, FIRST_DEPLOYS),
        ("where", "who"),
        12,
    )
    case.phase(
        "second-night",
        "11 July 2025, 04:30 UTC. Tonight it was the south, eight times, and warnings waited with the readings. These "
        "logs too are wiped at six. Find the class of fault that explains every stall.",
        (SECOND_TICKET, SECOND_CHAT, STORE_SOUTH, ROUTER, DISKS_D, TIDES, SECOND_DEPLOYS),
        ("joins",),
        14,
    )
    case.phase(
        "day-after",
        "11 July 2025, 10:30 UTC. The night's logs are gone, and the platform team has opened its papers. Say which "
        "service is at fault, the id of what set it off, and what to do before tonight.",
        (AUDIT, JOBS, CHANGES, PLATFORM_CHAT, MAPS_TICKET, RUNBOOK),
        ("owner", "change", "repair"),
        14,
    )
