"""A page that nothing is wrong behind: a planned writer move refuses writes for a minute, as announced.

The only refused calls come from the drill's own driver tenants, the release that everyone points at never
reached the cell, the pool's exceptions are the move seen from the client, and the disk alert is months old.
The plan alone does not settle it: each suspect must be ruled out by what the systems printed.
"""

from __future__ import annotations

from typing import Final

from TokenOptEnv.config import Difficulty
from TokenOptEnv.models import ArtifactKind
from TokenOptEnv.scenario import CacheValidity, QuestionKind, Scenario
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply
from TokenOptEnv.task_defs.incident.vocabulary import (
    FAULT_CLASS,
    NO_ACTION,
    NO_SERVICE,
    NO_TRIGGER,
    REMEDIATION,
    SERVICE,
    TRIGGER,
    Conclusion,
    Diagnosis,
    FaultClass,
    ask_for_diagnosis,
)
from TokenOptEnv.task_defs.incident.writers import chat, metrics_csv, runbook, ticket
from TokenOptEnv.task_defs.incident.writers.clock import Clock
from TokenOptEnv.task_defs.incident.writers.deploy_history import Deploy, history
from TokenOptEnv.task_defs.incident.writers.entries import merge
from TokenOptEnv.task_defs.incident.writers.java_log import (
    Heap,
    JavaLog,
    Operation,
    Thrown,
    collector_pauses,
    operations,
    pool_statistics,
    probes,
)
from TokenOptEnv.task_defs.incident.writers.metrics_csv import Series
from TokenOptEnv.task_defs.incident.writers.nginx_access import Hit, NginxLog, Visitors, hits
from TokenOptEnv.task_defs.incident.writers.patroni_log import PatroniLog, checkpoints, follower_loop, leader_loop

SCENARIO_ID: Final = "incident-easy-orders-cell2"
VERSION: Final = "orders-8827"

EDGE: Final = "log-edge-c2"
API: Final = "log-orders-api-c2"
DB: Final = "log-orders-db-c2"
METRICS: Final = "metrics-orders-c2"
DEPLOYS: Final = "deploys-orders"
CALENDAR: Final = "calendar-platform"
TICKET: Final = "ticket-4410"
CHAT: Final = "chat-oncall-orders"
RUNBOOK: Final = "runbook-orders"

ROLL_BACK: Final = "roll back orders-api"
FAIL_BACK: Final = "move the writer back to orders-db-c2-1"
GROW_POOL: Final = "raise the connection pool size of orders-api"
GROW_DISK: Final = "grow the data volume of orders-db-c2-1"

_TUESDAY = Clock(2025, 5, 20)
_DRIVER_REFUSALS: Final = (
    ("09:12:07", "t-90417", "10.8.0.33", 5002),
    ("09:12:19", "t-90423", "10.8.0.34", 5001),
    ("09:12:36", "t-90402", "10.8.0.33", 5003),
    ("09:12:51", "t-90417", "10.8.0.34", 5001),
    ("09:13:04", "t-90438", "10.8.0.33", 5002),
)


def build() -> Scenario:
    case = CaseBuilder(
        scenario_id=SCENARIO_ID,
        family="incident",
        difficulty=Difficulty.EASY,
        title="Order writes refused in cell c2",
        brief=(
            "At 09:13 UTC on 2025-05-20 on-call was paged: order writes in cell c2 were answered 503 and their p99 "
            "passed 4 s. It is 10:40 now and the page is still open. Say which service is at fault, the class of "
            "fault, the id of what set it off, and what to do next."
        ),
        version=VERSION,
    )
    _add_artifacts(case)
    _add_facts(case)
    _add_decoys(case)
    _add_questions(case)
    _add_cache(case)
    return case.build()


def _add_artifacts(case: CaseBuilder) -> None:
    case.artifact(TICKET, ArtifactKind.TICKET, "INC-4410: order writes refused, c2", _ticket())
    case.artifact(EDGE, ArtifactKind.LOG, "edge-nginx access log of c2, 09:06 to 09:22, sampled", _edge_log())
    case.artifact(API, ArtifactKind.LOG, "orders-api in c2, one instance, 09:04 to 09:24", _api_log())
    case.artifact(DB, ArtifactKind.LOG, "orders-db-c2, both members, 09:05 to 09:25", _db_log())
    case.artifact(METRICS, ArtifactKind.METRICS, "orders in c2 by minute", _metrics())
    case.artifact(DEPLOYS, ArtifactKind.HISTORY, "deploys of orders, 14 to 20 May", _deploys())
    case.artifact(CALENDAR, ArtifactKind.HISTORY, "platform calendar, week of 19 May", _CALENDAR_TEXT)
    case.artifact(CHAT, ArtifactKind.CHAT, "#oncall-orders", _chat())
    case.artifact(RUNBOOK, ArtifactKind.RUNBOOK, "orders: writes refused or slow", _runbook())


def _edge_log() -> str:
    log = NginxLog(_TUESDAY)
    live = Visitors("203.0.113", (2, 250), (11_000, 58_000), ("GET /v1/orders/{id}", "GET /v1/orders?page=1"), (18, 95))
    absent = Visitors("203.0.113", (2, 250), (11_000, 58_000), ("GET /v1/orders/{id}",), (9, 30), (404,))
    driver = Visitors("10.8.0", (33, 34), (90_400, 90_449), ("POST /v1/orders",), (41, 120), (201,))
    names = Stream(SCENARIO_ID, "edge", "refused")
    refused = [
        log.at(time, Hit(client, "POST /v1/orders", 503, 197, tenant, names.hex(8), took_ms))
        for time, tenant, client, took_ms in _DRIVER_REFUSALS
    ]
    left = [
        log.at("09:08:40", Hit("203.0.113.77", "GET /v1/orders/export", 499, 0, "t-23719", "b7c0d114", 30_004)),
        log.at("09:17:22", Hit("203.0.113.18", "GET /v1/orders/export", 499, 0, "t-31804", "0e55a9c3", 30_002)),
    ]
    return merge(
        refused,
        left,
        hits(
            Stream(SCENARIO_ID, "edge", "live"),
            log,
            _TUESDAY.window("09:06", "09:22"),
            36_000,
            (live, live, live, absent),
        ),
        hits(
            Stream(SCENARIO_ID, "edge", "driver", "before"), log, _TUESDAY.window("09:08", "09:12"), 52_000, (driver,)
        ),
        hits(
            Stream(SCENARIO_ID, "edge", "driver", "after"), log, _TUESDAY.window("09:13:20", "09:22"), 80_000, (driver,)
        ),
    )


def _api_log() -> str:
    log = JavaLog(_TUESDAY)
    whole = _TUESDAY.window("09:04", "09:24")
    before, after = _TUESDAY.window("09:04", "09:12"), _TUESDAY.window("09:14:10", "09:24")
    pool = "HikariPool-1"
    timed_out = Thrown(
        f"java.sql.SQLTransientConnectionException: {pool} - Connection is not available, request timed out after "
        "5000ms (total=20, active=20, idle=0, waiting=37)",
        (
            "com.zaxxer.hikari.pool.HikariPool.createTimeoutException(HikariPool.java:686)",
            "com.zaxxer.hikari.pool.HikariPool.getConnection(HikariPool.java:179)",
            "io.cell.orders.store.OrderWriter.insert(OrderWriter.java:92)",
        ),
        Thrown(
            "org.postgresql.util.PSQLException: ERROR: cannot execute INSERT in a read-only transaction",
            ("org.postgresql.core.v3.QueryExecutorImpl.receiveErrorResponse(QueryExecutorImpl.java:2725)",),
            more=41,
        ),
    )
    by_hand = [
        log.at("09:04:10.221", "INFO", "main", "i.c.orders.Build", "orders-api build 8827 cell c2, up 3d 04:11:52"),
        log.at("09:12:07.118", "ERROR", "http-nio-8080-exec-9", "i.c.orders.api.Writes", "write refused", timed_out),
        log.at(
            "09:12:09.730",
            "WARN",
            f"{pool} housekeeper",
            "c.z.hikari.pool.HikariPool",
            f"{pool} - Failed to validate connection (This connection has been closed.)",
        ),
        log.at("09:12:51.404", "ERROR", "http-nio-8080-exec-21", "i.c.orders.api.Writes", "write refused", timed_out),
        log.at(
            "09:13:02.551",
            "INFO",
            "dns-watch",
            "i.c.orders.store.WriterName",
            "orders-db-c2-rw now 10.8.2.12 (was 10.8.2.11)",
        ),
        log.at(
            "09:13:10.006",
            "DEBUG",
            f"{pool} housekeeper",
            "c.z.hikari.pool.HikariPool",
            f"{pool} - Pool stats (total=20, active=19, idle=1, waiting=6)",
        ),
        log.at(
            "09:13:40.009",
            "DEBUG",
            f"{pool} housekeeper",
            "c.z.hikari.pool.HikariPool",
            f"{pool} - Pool stats (total=20, active=7, idle=13, waiting=0)",
        ),
        log.at(
            "09:16:18.312",
            "WARN",
            "promo-refresh",
            "i.c.orders.promo.PromoCache",
            "promo-cache answered 7 of 9 keys, 2 defaults used",
        ),
        log.at("09:19:10.224", "INFO", "main", "i.c.orders.Build", "orders-api build 8827 cell c2, up 3d 04:26:52"),
    ]
    kinds = (
        Operation("i.c.orders.api.Reads", "order {id} read, {n} lines, {ms} ms", (3, 22)),
        Operation("i.c.orders.api.Reads", "page of {n}0 orders for cursor {id}, {ms} ms", (9, 48)),
        Operation("i.c.orders.stock.Reserve", "inventory hold {id} ok, {ms} ms", (6, 25)),
    )
    return merge(
        by_hand,
        operations(Stream(SCENARIO_ID, "api", "operations"), log, whole, 62_000, kinds, "ord-"),
        pool_statistics(Stream(SCENARIO_ID, "api", "pool", "before"), log, before, 120_000, pool, 20, 6),
        pool_statistics(Stream(SCENARIO_ID, "api", "pool", "after"), log, after, 150_000, pool, 20, 6),
        collector_pauses(Stream(SCENARIO_ID, "api", "gc"), log, whole, 210_000, Heap(1024, 380, 60, 14), 474),
        probes(Stream(SCENARIO_ID, "api", "probes"), log, whole, 240_000, "db=UP promo=UP"),
    )


def _db_log() -> str:
    log = PatroniLog(_TUESDAY)
    one, two = "orders-db-c2-1", "orders-db-c2-2"
    by_hand = [
        log.at("09:07:44.120", "c2-1", "LOG", 'automatic vacuum of table "orders.public.order_line": index scans: 1'),
        log.at(
            "09:12:02.214",
            "c2-1",
            "INFO",
            f"received switchover request with leader={one} candidate={two} scheduled_at=None from 10.8.0.31",
        ),
        log.at(
            "09:12:02.377",
            "c2-1",
            "INFO",
            f"Got response from {two}: "
            '{"state": "running", "received": 91268054016, "replayed": 91268054016, "wanted": 91268054016}',
        ),
        log.at("09:12:02.390", "c2-1", "INFO", "manual failover: demoting myself"),
        log.at("09:12:02.401", "c2-1", "LOG", "received fast shutdown request"),
        log.at("09:12:02.488", "c2-1", "FATAL", "terminating connection due to administrator command"),
        log.at("09:12:41.902", "c2-1", "INFO", "Leader key released"),
        log.at("09:12:43.115", "c2-2", "INFO", "promoted self to leader by acquiring session lock"),
        log.at("09:12:44.310", "c2-2", "LOG", "selected new timeline ID: 15"),
        log.at("09:12:46.733", "c2-2", "LOG", "archive recovery complete"),
        log.at("09:12:58.020", "c2-1", "INFO", f"Lock owner: {two}; I am {one}; rewind not needed"),
        log.at(
            "09:18:30.551",
            "c2-2",
            "WARNING",
            "Request failed to c2-1: GET http://10.8.2.11:8008/patroni (timed out), retried ok",
        ),
        log.at("09:21:05.006", "c2-2", "INFO", "members=2 writable=c2-2 streaming=c2-1 behind=0 pending_switchover=no"),
    ]
    before, after = _TUESDAY.window("09:05", "09:12"), _TUESDAY.window("09:13", "09:25")
    return merge(
        by_hand,
        leader_loop(Stream(SCENARIO_ID, "db", "leader", "before"), log, before, 70_000, "c2-1", one),
        follower_loop(Stream(SCENARIO_ID, "db", "follower", "before"), log, before, 110_000, "c2-2", two, one),
        leader_loop(Stream(SCENARIO_ID, "db", "leader", "after"), log, after, 90_000, "c2-2", two),
        follower_loop(Stream(SCENARIO_ID, "db", "follower", "after"), log, after, 140_000, "c2-1", one, two),
        checkpoints(Stream(SCENARIO_ID, "db", "checkpoints"), log, before, 190_000, "c2-1"),
        checkpoints(Stream(SCENARIO_ID, "db", "checkpoints", "after"), log, after, 290_000, "c2-2"),
    )


def _metrics() -> str:
    return metrics_csv.table(
        _TUESDAY,
        "09:07",
        1,
        (
            Series("rps_live", (63, 61, 65, 61, 64, 63, 57, 61, 58, 59, 60, 59, 57, 57)),
            Series("rps_drv", (0, 38, 39, 38, 39, 37, 39, 38, 38, 39, 38, 39, 39, 37)),
            Series("e5_live", (0,) * 14),
            Series("e5_drv", (0, 0, 0, 0, 0, 31, 17, 0, 0, 0, 0, 0, 0, 0)),
            Series("p99_live", (85, 85, 96, 78, 97, 87, 90, 78, 88, 89, 98, 95, 78, 81)),
            Series("p99_drv", (0, 117, 120, 116, 118, 5004, 5002, 131, 118, 117, 119, 118, 116, 117)),
            Series("pool_wait", (0, 0, 0, 0, 0, 37, 6, 0, 0, 0, 0, 0, 0, 0)),
            Series("disk_pct", (91,) * 14),
        ),
    )


def _deploys() -> str:
    return history(
        "orders, newest first (times UTC)",
        (
            Deploy(
                "rel-8830",
                "orders-api",
                "2025-05-20 09:09",
                "rolling",
                "j.moreau",
                ("write path: batch inserts", "wave 1: c1, done 09:16", "wave 2: c2 c3, gate shut, 0 of 12 replaced"),
            ),
            Deploy("rel-8829", "inventory", "2025-05-19 14:30", "live", "a.nwosu", ("hold expiry 15 to 20 min",)),
            Deploy("rel-8827", "orders-api", "2025-05-17 04:50", "live", "j.moreau", ("audit headers",)),
            Deploy("rel-8824", "promo-cache", "2025-05-15 11:12", "live", "k.ilves", ("key prefixes",)),
            Deploy("rel-8821", "edge-nginx", "2025-05-14 08:05", "live", "t.sato", ("tenant field in access log",)),
        ),
    )


_CALENDAR_TEXT: Final = """\
Platform calendar, week of 2025-05-19 (UTC). Approved entries only unless marked.

CHG-2284  Mon 19 May 21:00-23:00  storage: firmware, cells c4 c5. Done.
CHG-2288  Tue 20 May 09:00-10:00  c3: writer exercise. WITHDRAWN 19 May, owner absent.
CHG-2291  Tue 20 May 09:00-09:45  c2: writer exercise GD-118, c2-1 hands over to c2-2 and stays there.
          Started from 10.8.0.31. Inserts bounce for up to 120 s and OrdersWriteErrors fires once.
          Live inserts for c2 go to c1 from 08:55 to 10:00. Load: tenants t-90400 to t-90449.
CHG-2293  Tue 20 May 13:00-14:00  promo-cache: memory resize, all cells.
CHG-2295  Wed 21 May 06:00-07:00  edge-nginx: kernel update, c1.
"""


def _ticket() -> str:
    return ticket.page(
        ticket.Ticket(
            "INC-4410",
            "Order writes refused in c2",
            "2",
            "2025-05-20 09:13",
            "pager",
            (
                "OrdersWriteErrors c2 above 5 % for 1 min (peak 81 %), OrdersWriteP99 c2 5.0 s.",
                "Also firing: DiskUsageHigh orders-db-c2-1 /pgdata 91 %.",
                "Not firing: c1, c3, inventory, payments-bridge.",
            ),
            (
                (
                    "09:31",
                    "k.ilves",
                    "The service at fault for the refused order writes: orders-db lost its leader at 09:12.",
                ),
                ("09:44", "b.anand", "91 % on that volume since 2 April, autogrow starts at 95 %."),
            ),
        )
    )


def _chat() -> str:
    return chat.transcript(
        "#oncall-orders, 2025-05-20",
        (
            ("09:14", "pager", "INC-4410 OrdersWriteErrors c2"),
            ("09:15", "k.ilves", "rel-8830 set it off? the new write path started rolling four minutes before"),
            ("09:17", "j.moreau", "8830 batches inserts, so it holds connections longer. could be that class of fault"),
            (
                "09:22",
                "k.ilves",
                "37 threads waiting on the pool at the peak, classic exhaustion. pool is 20, was 40 last year",
            ),
            ("09:29", "d.ferri", "no customer has written in so far"),
            ("09:52", "k.ilves", "leaving it open until someone can say why. storage has not answered"),
        ),
    )


def _runbook() -> str:
    return runbook.page(
        "Orders: writes refused or slow",
        "2025-02-18",
        (
            runbook.Section(
                "Pool",
                (
                    "waiting above 10 for 5 min: what on-call should do now is raise the pool size of orders-api.",
                    "Check that waiting returns to 0 after any database event.",
                ),
            ),
            runbook.Section(
                "Writer",
                (
                    "c2-1 is the usual writer. After an unplanned change move it back in quiet hours.",
                    "A planned one ends when behind=0 and the new writer has held the lock for 5 min.",
                ),
            ),
            runbook.Section("Release", ("A release that has reached the cell: roll it back.",)),
        ),
    )


def _add_facts(case: CaseBuilder) -> None:
    case.fact(
        "refused-tenants",
        "every refused write is of a tenant t-904xx",
        *(
            Quote(EDGE, f'"POST /v1/orders HTTP/1.1" 503 197 ten={tenant}')
            for tenant in ("t-90417", "t-90423", "t-90402", "t-90438")
        ),
    )
    case.fact(
        "driver-tenants", "those tenants are the drill's load", Quote(CALENDAR, "Load: tenants t-90400 to t-90449")
    )
    case.fact(
        "live-clean", "no live request failed in the worst minute", Quote(METRICS, "09:12,63,37,0,31,87,5004,37,91")
    )
    case.fact(
        "asked-for", "someone asked for the change of leader", Quote(DB, "received switchover request with leader=")
    )
    case.fact("planned", "the change was announced for c2, from that host", Quote(CALENDAR, "writer exercise GD-118"))
    case.fact(
        "not-here",
        "the release never reached c2: its wave is shut, and the instance prints the old build",
        Quote(DEPLOYS, "gate shut, 0 of 12 replaced"),
        Quote(API, "orders-api build 8827 cell c2"),
    )
    case.fact(
        "disk-old",
        "the disk alert is weeks old and below its limit",
        Quote(TICKET, "since 2 April, autogrow starts at 95 %"),
    )
    case.fact(
        "pool-drained",
        "nobody waits for a connection since 09:13:40",
        Quote(API, "(total=20, active=7, idle=13, waiting=0)"),
        Quote(METRICS, "09:14,61,38,0,0,78,131,0,91"),
        Quote(METRICS, "09:16,59,39,0,0,89,117,0,91"),
    )
    case.fact(
        "settled",
        "the new writer is followed without delay",
        Quote(DB, "streaming=c2-1 behind=0 pending_switchover=no"),
    )
    case.fact(
        "page-foreseen", "the page was foreseen, and the writer stays", Quote(CALENDAR, "OrdersWriteErrors fires once")
    )


def _add_decoys(case: CaseBuilder) -> None:
    case.decoy(
        "fresh-release",
        "a release of the write path minutes before, in another cell",
        Quote(DEPLOYS, "write path: batch inserts"),
        Quote(CHAT, "rel-8830 set it off?"),
        Quote(CHAT, "8830 batches inserts"),
    )
    case.decoy(
        "pool-empty",
        "the pool was empty while the writer moved",
        Quote(API, "(total=20, active=20, idle=0, waiting=37)"),
        Quote(CHAT, "classic exhaustion"),
    )
    case.decoy(
        "leader-lost",
        "the leader went away",
        Quote(DB, "terminating connection due to administrator command"),
        Quote(TICKET, "orders-db lost its leader at 09:12"),
    )
    case.decoy("disk-high", "an old disk alert fires along", Quote(TICKET, "DiskUsageHigh orders-db-c2-1"))
    case.decoy(
        "pool-advice", "the runbook's advice for a lasting wait", Quote(RUNBOOK, "raise the pool size of orders-api")
    )
    case.decoy(
        "writer-advice", "the runbook's advice for an unplanned move", Quote(RUNBOOK, "c2-1 is the usual writer")
    )
    case.decoy("name-moved", "the writer's name moved to another address", Quote(API, "orders-db-c2-rw now 10.8.2.12"))


def _add_questions(case: CaseBuilder) -> None:
    no_fault = FaultClass.NO_FAULT.value
    blame = ("refused-tenants", "driver-tenants", "live-clean")
    cause = ("asked-for", "planned", "not-here", "disk-old")
    after = ("pool-drained", "settled", "page-foreseen")
    ask_for_diagnosis(
        case,
        Diagnosis(
            service=Conclusion((NO_SERVICE,), ("refused-tenants", "driver-tenants")),
            fault_class=Conclusion((no_fault,), ("asked-for", "planned", "not-here")),
            trigger=Conclusion((NO_TRIGGER,), ("planned", "not-here")),
            remediation=Conclusion((NO_ACTION,), ("pool-drained", "settled")),
        ),
        services=("edge-nginx", "inventory", "orders-api", "orders-db", "payments-bridge", "promo-cache"),
        remediations=(
            "flush promo-cache and let it refill",
            FAIL_BACK,
            GROW_DISK,
            GROW_POOL,
            "block the noisiest tenants at edge-nginx",
            ROLL_BACK,
        ),
    )
    case.subtask(
        "culprit",
        "Which service is at fault for the refused order writes?",
        (SERVICE,),
        QuestionKind.CAUSAL,
        lexical=False,
        needs=blame,
        right=Reply(
            {SERVICE: NO_SERVICE},
            "None: all 503s are of tenants t-904xx, the load of an announced exercise; live errors stay at 0.",
        ),
        wrong=(
            Reply(
                {SERVICE: "orders-db"}, "orders-db lost its leader and cut its connections at 09:12.", ("leader-lost",)
            ),
            Reply(
                {SERVICE: "orders-api"},
                "orders-api ran out of connections right after rel-8830.",
                ("pool-empty", "fresh-release"),
            ),
            Reply({SERVICE: "edge-nginx"}, "edge-nginx answered 503 and 499 for c2."),
        ),
    )
    case.subtask(
        "cause",
        "What class of fault is it, and which rel, CHG or switchover request set it off?",
        (FAULT_CLASS, TRIGGER),
        QuestionKind.CAUSAL,
        lexical=True,
        needs=cause,
        right=Reply(
            {FAULT_CLASS: no_fault, TRIGGER: NO_TRIGGER},
            "No fault: the leader changed on request as announced for c2; rel-8830 has "
            "not reached c2 and the disk alert dates from April.",
        ),
        wrong=(
            Reply(
                {FAULT_CLASS: FaultClass.BAD_DEPLOY.value, TRIGGER: "rel-8830"},
                "rel-8830 changed the write path four minutes before the page.",
                ("fresh-release",),
            ),
            Reply(
                {FAULT_CLASS: FaultClass.POOL_EXHAUSTION.value, TRIGGER: "rel-8830"},
                "Batch inserts hold connections longer: 37 threads waited for a pool of 20.",
                ("pool-empty",),
            ),
            Reply(
                {FAULT_CLASS: FaultClass.DISK_FULL.value, TRIGGER: "DiskUsageHigh"},
                "The leader's volume is at 91 % and it stepped down.",
                ("disk-high",),
            ),
            Reply(
                {FAULT_CLASS: FaultClass.DNS.value, TRIGGER: "orders-db-c2-rw"},
                "The writer's name kept pointing at the old address.",
                ("name-moved",),
            ),
            Reply(
                {FAULT_CLASS: FaultClass.DEADLOCK.value, TRIGGER: "rel-8830"},
                "Batch inserts block each other until they time out.",
            ),
        ),
    )
    case.subtask(
        "next",
        "What is left to do: do inserts bounce, is pool_wait at 0, is a member behind or a switchover pending?",
        (REMEDIATION,),
        QuestionKind.CAUSAL,
        lexical=True,
        needs=after,
        right=Reply(
            {REMEDIATION: NO_ACTION},
            "The pool drained at 09:13:40, the new writer is followed with behind=0, and the plan foresaw this page.",
        ),
        wrong=(
            Reply({REMEDIATION: GROW_POOL}, "37 threads waited: raise the pool size.", ("pool-advice", "pool-empty")),
            Reply({REMEDIATION: FAIL_BACK}, "c2-1 is the usual writer; move it back.", ("writer-advice",)),
            Reply({REMEDIATION: ROLL_BACK}, "The release changed the write path; roll it back.", ("fresh-release",)),
            Reply({REMEDIATION: GROW_DISK}, "The volume is at 91 %.", ("disk-high",)),
            Reply({REMEDIATION: "block the noisiest tenants at edge-nginx"}, "A few tenants make all refused writes."),
        ),
    )


def _add_cache(case: CaseBuilder) -> None:
    case.cached(
        "cache-771",
        "culprit",
        "Which service is at fault for order writes refused in c2 at 09:12?",
        {SERVICE: NO_SERVICE},
        "Only tenants t-90400 to t-90449 were refused; live errors were 0.",
        VERSION,
        1,
        (
            Quote(EDGE, '"POST /v1/orders HTTP/1.1" 503 197 ten=t-90417'),
            Quote(CALENDAR, "Load: tenants t-90400 to t-90449"),
            Quote(METRICS, "09:12,63,37,0,31,87,5004,37,91"),
        ),
        CacheValidity.VALID,
    )
    case.cached(
        "cache-752",
        "cause",
        "What class of fault made order writes wait in c2, and what set it off?",
        {FAULT_CLASS: FaultClass.DISK_FULL.value, TRIGGER: "DiskUsageHigh"},
        "Writes waited while the volume of c2-1 was grown by hand.",
        VERSION,
        61,
        (Quote(RUNBOOK, "c2-1 is the usual writer"),),
        CacheValidity.STALE,
    )
    case.cached(
        "cache-744",
        "next",
        "What should on-call do about refused order writes?",
        {REMEDIATION: GROW_POOL},
        "Raise the pool size; threads were waiting for minutes.",
        "orders-8790",
        1,
        (Quote(RUNBOOK, "raise the pool size of orders-api"),),
        CacheValidity.WRONG_VERSION,
    )
    case.cached(
        "cache-760",
        "culprit",
        "Which service refused order writes?",
        {SERVICE: "orders-db"},
        "orders-db lost its leader without anyone asking.",
        VERSION,
        70,
        (Quote(RUNBOOK, "c2-1 is the usual writer"),),
        CacheValidity.STALE,
    )
