"""The small papers of the late-readings case, by the phase they can be read in."""

from __future__ import annotations

from typing import Final

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.cases.late_readings import nights
from TokenOptEnv.task_defs.incident.writers import chat, metrics_csv, runbook, ticket
from TokenOptEnv.task_defs.incident.writers.config_changes import ConfigChange, changes
from TokenOptEnv.task_defs.incident.writers.deploy_history import Deploy, history
from TokenOptEnv.task_defs.incident.writers.metrics_csv import Series

CHANGE: Final = "chg-3107"
ARCHIVE_CHANGE: Final = "chg-3109"
STORE_CHANGE: Final = "chg-3102"

# --- the first night


def first_ticket() -> str:
    return ticket.page(
        ticket.Ticket(
            "TW-311",
            "Readings of the north coast late",
            "2",
            "2025-07-10 02:09",
            "pager",
            (
                "StaleGauge north above 20 for 2 min, at 02:08, 02:33 and 03:00. Over by itself each time.",
                "Spring tide: since midnight gauges report every 20 s instead of every minute.",
                "Also firing: LinkFlap mast-7 (on and off since March), VolumeHigh n-11 (84 %).",
            ),
            (("02:20", "e.lund", "gauge-ingest went to dep-881 at 01:20. I would start there."),),
        )
    )


def first_chat() -> str:
    return chat.transcript(
        "#tidewatch-night, 2025-07-10",
        (
            (
                "02:11",
                "e.lund",
                "the first reading of the night that was late: wrack-point-2. shard s03, and s03 is on n-11",
            ),
            ("02:14", "k.osei", "that one came over mast-7, in this wind. I would not hang anybody for it"),
            ("02:27", "e.lund", "ingest is back on dep-874"),
            ("02:36", "e.lund", "and 02:33 came all the same. so not ingest"),
            (
                "02:49",
                "k.osei",
                "n-17's disk is the busiest of the rack: one slice writes 400 MB/s there, for an hour now",
            ),
            ("02:55", "e.lund", "does anything on n-17 wait? no. curious"),
            ("03:31", "k.osei", "store and disk logs are wiped at six. what is not written down then is gone"),
        ),
    )


def first_deploys() -> str:
    return history(
        "coast, newest first (times UTC)",
        (
            Deploy(
                "dep-881", "gauge-ingest", "2025-07-10 01:20", "undone", "e.lund", ("20 s readings at spring tide",)
            ),
            Deploy("dep-879", "gauge-store", "2025-07-08 10:15", "live", "s.varley", ("range reads by column",)),
            Deploy("dep-874", "gauge-ingest", "2025-07-02 13:40", "live", "e.lund", ("mast names in logs",)),
        ),
    )


# --- the second night


def second_ticket() -> str:
    return ticket.page(
        ticket.Ticket(
            "TW-314",
            "Readings and warnings of the south coast late",
            "1",
            "2025-07-11 01:46",
            "pager",
            (
                "StaleGauge south and WarningAge above 4 s, together, eight times between 01:44 and 03:45.",
                "High water 02:20, spring tide. Readings at three times the usual rate.",
                "Also firing: OutboxHigh warn-router (4100 of 5000, on and off), VolumeHigh n-20 (86 %).",
            ),
            (
                (
                    "02:05",
                    "k.osei",
                    "warn-router went to dep-889 at 01:38, six minutes before the first of these stalls. The class of "
                    "fault that joins store and router is a bad deploy, if you ask me.",
                ),
            ),
        )
    )


def second_chat() -> str:
    return chat.transcript(
        "#tidewatch-night, 2025-07-11",
        (
            ("01:49", "k.osei", "other end of the coast tonight. north is calm"),
            (
                "02:08",
                "k.osei",
                "outbox of the router is at 4100 of 5000. if it fills, sirens wait. smells of backpressure",
            ),
            ("02:22", "e.lund", "high water now. is it just the tide? three times the readings, all stalls together"),
            ("02:41", "k.osei", "02:34 again. router rolled back at 02:30, so much for dep-889"),
            ("02:58", "e.lund", "n-20 volume at 86 %. full disks stall too"),
            ("03:50", "e.lund", "tide has been falling for an hour and it came at 03:40 as at 02:17"),
            ("04:20", "k.osei", "same rule as last night: wiped at six, write it down"),
        ),
    )


def second_deploys() -> str:
    return history(
        "coast, newest first (times UTC)",
        (
            Deploy("dep-889", "warn-router", "2025-07-11 01:38", "undone", "k.osei", ("outbox format 3",)),
            Deploy("dep-886", "surge-model", "2025-07-10 15:10", "live", "a.brandvold", ("new wind fields",)),
            Deploy("dep-883", "edge", "2025-07-10 11:02", "live", "s.varley", ("map cache headers",)),
        ),
    )


def tides() -> str:
    """Water and load by ten minutes: neither rises with the stalls."""
    stream = Stream(nights.SCENARIO_ID, "tides")
    level = (402, 421, 438, 452, 463, 469, 466, 458, 445, 428, 407, 383, 357, 330, 302, 275)
    readings = tuple(cm * 4 + stream.integer(-30, 30) for cm in level)
    heap = tuple(stream.integer(388, 470) for _ in level)
    late = tuple(
        sum(
            nights.SECOND.clock.at("01:30") + row * 600_000
            <= surge.start_ms
            < nights.SECOND.clock.at("01:40") + row * 600_000
            for surge in nights.SECOND.surges
        )
        for row in range(len(level))
    )
    return metrics_csv.table(
        nights.SECOND.clock,
        "01:30",
        10,
        (
            Series("water_cm", level),
            Series("readings_min", readings),
            Series("router_heap_mb", heap),
            Series("stalls", late),
        ),
    )


# --- the day after


def platform_chat() -> str:
    return chat.transcript(
        "#platform, 2025-07-11",
        (
            ("09:10", "e.lund", "two nights, two nodes, two services. only the hour is the same"),
            (
                "09:14",
                "a.brandvold",
                "archive-sync copies at two, since wednesday. that change made it heavy at night, no?",
            ),
            ("09:21", "l.moreau", "copies to n-17 and n-25, and nothing waited there. both nights"),
            (
                "09:40",
                "s.varley",
                "we made the wal wait longer for company last week, chg-3102. could add up on shared disks",
            ),
            ("09:52", "e.lund", "for tonight: spring tide and flood watch both stand until sunday"),
            ("10:05", "l.moreau", "pod ids in the audit are the slice ids of the disk accounts. did anybody keep one?"),
        ),
    )


def batch_changes() -> str:
    return changes(
        (
            ConfigChange(
                "chg-3112",
                "90be4d1",
                "p.ngata",
                "2025-07-10 09:15",
                "tide-tables: two more harbours",
                "report-desk/tide-tables.yaml",
                ("-harbours: 41", "+harbours: 43"),
            ),
            ConfigChange(
                ARCHIVE_CHANGE,
                "5c02a7e",
                "a.brandvold",
                "2025-07-09 13:58",
                "cold-copy: at two, when the link is free",
                "archive-sync/cold-copy.yaml",
                ('-at: "23:00"', '+at: "01:59"', "+link_mb_s: 400"),
            ),
            ConfigChange(
                CHANGE,
                "e17f936",
                "r.quist",
                "2025-07-09 22:55",
                "coast-tiles: be done before breakfast",
                "tile-baker/coast-tiles.yaml",
                ("-pack_writers: 2", "+pack_writers: 16", "-io_class: idle"),
            ),
            ConfigChange(
                STORE_CHANGE,
                "2d8860b",
                "s.varley",
                "2025-07-04 10:30",
                "gauge-store: let wal writes wait for company",
                "gauge-store/prod.yaml",
                ("-wal.group_ms: 5", "+wal.group_ms: 20"),
            ),
        )
    )


BATCH_JOBS: Final = """\
# batch jobs as the scheduler has them, 2025-07-11 08:00
# a job without io_class is under no disk limit and shares the disk with whatever runs on its node
cold-copy:
  owner: archive-sync
  at: "01:59"
  io_class: throttled
  link_mb_s: 400
coast-tiles:
  owner: tile-baker
  after: forecast
  pack_writers: 16
  pack_gb: 130
ensemble:
  owner: surge-model
  every: 2h
  io_class: idle
tide-tables:
  owner: report-desk
  every: 6h
  io_class: idle
"""


def maps_ticket() -> str:
    return ticket.page(
        ticket.Ticket(
            "MAPS-77",
            "Flood map ready earlier",
            "4",
            "2025-07-10 06:20",
            "r.quist",
            (
                "The map is due at 06:00. With two writers, idle class, it was ready at 04:10, every day since 2023.",
                "Today it was ready at 03:15. Nobody had asked for that, but it looks good on the wall.",
            ),
            (("07:05", "p.ngata", "Nice. Who pays for it?"),),
        )
    )


def platform_runbook() -> str:
    return runbook.page(
        "Nodes and shared disks",
        "2025-05-30",
        (
            runbook.Section(
                "Shards wait for the disk",
                (
                    "To let shards write again for good: move them to another node, 40 min each.",
                    "While a spring tide lasts no shard is moved.",
                ),
            ),
            runbook.Section(
                "Heavy jobs",
                (
                    "A job is stopped with `batch stop <job>`. The flood map must not be missing in the morning: "
                    "coast-tiles is never stopped during a flood watch.",
                    "`batch class <job> idle` caps what a job writes at 200 MB/s from its next write on, no restart.",
                ),
            ),
        ),
    )
