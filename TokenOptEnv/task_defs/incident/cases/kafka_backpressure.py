"""Balance reads time out because a settlement consumer can no longer finish a batch.

A settings change lets one poll bring eight times the records that the apply stage holds. The poll loop stands
until they fit, longer than the poll interval; the member is put out of its group, its commit fails and the same
records come again: nothing is committed after 10:31:33. Readers tolerate an old watermark for twenty minutes, so
the first timeout comes at 10:51, right after a deploy of another service, and two services away from the cause.
"""

from __future__ import annotations

from typing import Final

from TokenOptEnv.config import Difficulty
from TokenOptEnv.models import ArtifactKind, Slot
from TokenOptEnv.scenario import CacheValidity, QuestionKind, Scenario
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply
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
from TokenOptEnv.task_defs.incident.writers import chat, metrics_csv, runbook, ticket
from TokenOptEnv.task_defs.incident.writers.clock import Clock
from TokenOptEnv.task_defs.incident.writers.config_changes import ConfigChange, changes
from TokenOptEnv.task_defs.incident.writers.deploy_history import Deploy, history
from TokenOptEnv.task_defs.incident.writers.entries import merge
from TokenOptEnv.task_defs.incident.writers.envoy_access import Call, EnvoyLog, Route, requests
from TokenOptEnv.task_defs.incident.writers.java_log import (
    Heap,
    JavaLog,
    Thrown,
    collector_pauses,
    pool_statistics,
    probes,
)
from TokenOptEnv.task_defs.incident.writers.json_lines import Event, JsonLog, events
from TokenOptEnv.task_defs.incident.writers.kafka_consumer import (
    NETWORK,
    Applier,
    Consumer,
    Feed,
    Group,
    batches,
    fetch_hiccups,
    held_watermark,
    outlasting_batches,
)
from TokenOptEnv.task_defs.incident.writers.metrics_csv import Series

SCENARIO_ID: Final = "incident-medium-kafka-backpressure"
VERSION: Final = "payments-2025.24"

RECONCILER: Final = "log-reconciler-5521"
GATEWAY: Final = "log-gateway-edge"
BALANCE: Final = "log-balance-api"
METRICS: Final = "metrics-settlements"
DEPLOYS: Final = "deploys-payments"
CONFIGS: Final = "config-changes-payments"
TICKET: Final = "ticket-9602"
CHAT: Final = "chat-inc-9602"
RUNBOOK: Final = "runbook-balances"

REQUEST_ID: Final = "request_id"
FIRST_REQUEST: Final = "9b7e24d1"
EXPORT_REQUEST: Final = "c41e07b9"
LEFT_REQUEST: Final = "5d20f1aa"
PAGED_REQUEST: Final = "e0c93f58"

RESTORE: Final = "restore the previous reconciler settings"
ADD_INSTANCES: Final = "add reconciler instances"
ROLL_BACK: Final = "roll back ledger-writer"
MORE_HEAP: Final = "restart the reconciler with a larger heap"
LONGER_TIMEOUT: Final = "lengthen the balance read timeout at the gateway"
FAIL_OVER: Final = "fail ledger-db over to its standby"
SKIP_REJECTS: Final = "skip the rejected settlement records"

_TUESDAY = Clock(2025, 6, 17)
_HELD_OFFSET: Final = 88190117
"""Where shard s7 stands still: the last offset committed before a poll brought more than fits."""
_CALM_OFFSET: Final = 88188857
"""Where the excerpt begins; the records polled before the drop of 10:30 lead up to it."""


def build() -> Scenario:
    case = CaseBuilder(
        scenario_id=SCENARIO_ID,
        family="incident",
        difficulty=Difficulty.MEDIUM,
        title="Balance reads time out at the gateway",
        brief=(
            "Since 10:51 UTC on 2025-06-17 balance reads at the payments gateway time out, and the balances that do "
            "arrive are old. A ledger-writer deploy had finished minutes before. It is 13:05 now and still going on. "
            "Say which service is at fault, the class of fault, the id of what set it off, and what to do next."
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
    case.artifact(TICKET, ArtifactKind.TICKET, "INC-9602: balance reads time out", _ticket())
    case.artifact(GATEWAY, ArtifactKind.LOG, "api-gateway access log, 10:38 to 11:06, sampled", _gateway_log())
    case.artifact(BALANCE, ArtifactKind.LOG, "balance-api, one instance, 10:36 to 11:10, info sampled", _balance_log())
    case.artifact(RECONCILER, ArtifactKind.LOG, "reconciler 5521, 10:20 to 11:22", _reconciler_log())
    case.artifact(METRICS, ArtifactKind.METRICS, "settlements.v3, ledger-db and gateway, by 5 minutes", _metrics())
    case.artifact(DEPLOYS, ArtifactKind.HISTORY, "deploys of payments, 12 to 17 June", _deploys())
    case.artifact(CONFIGS, ArtifactKind.DIFF, "settings repository of payments, 16 and 17 June", _config_changes())
    case.artifact(CHAT, ArtifactKind.CHAT, "#inc-9602", _chat())
    case.artifact(RUNBOOK, ArtifactKind.RUNBOOK, "stale or missing balances", _runbook())


def _reconciler_log() -> str:
    log = JavaLog(_TUESDAY)
    consumer = Consumer("reconciler-5521-0", "settlement-recon", "settlements.v3", 7, "c.p.recon")
    applier = Applier(slots=500, record_ms=(90, 92))
    trickle, drop = Feed((11, 29), (34_000, 52_000)), Feed((500, 500), (90, 300))
    whole = _TUESDAY.window("10:20", "11:22")
    calm, loaded = _TUESDAY.window("10:20", "10:31:10"), _TUESDAY.window("10:31:30", "11:22")
    deadlock = Thrown(
        "org.postgresql.util.PSQLException: ERROR: deadlock detected",
        (
            "org.postgresql.core.v3.QueryExecutorImpl.receiveErrorResponse(QueryExecutorImpl.java:2725)",
            "com.paylane.recon.store.LedgerTx.post(LedgerTx.java:118)",
        ),
        more=23,
    )
    settings, rejects, ledger = "c.p.recon.RemoteSettings", "c.p.recon.Rejects", "c.p.recon.store.LedgerTx"
    by_hand = [
        log.at("10:20:02.318", "INFO", "settings-watch", settings, "revision 2198 in effect, no newer one"),
        log.at(
            "10:30:21.090",
            "WARN",
            "lane-7",
            rejects,
            "record settlements.v3-7@88189325 refused: amount scale 5 over 4, moved to settlements.v3.rejects",
        ),
        log.at("10:31:04.112", "INFO", "settings-watch", settings, "revision 2207 in effect (was 2198), 2 keys differ"),
        log.at(
            "10:33:56.447",
            "WARN",
            "lane-7",
            rejects,
            "record settlements.v3-7@88191678 refused: unknown currency XTS, moved to settlements.v3.rejects",
        ),
        log.at("10:35:02.508", "WARN", "lane-7", ledger, "attempt 1 of 5 rolled back, trying again", deadlock),
        log.at("10:35:02.549", "INFO", "lane-7", ledger, "attempt 2 of 5 ok, 41 ms"),
        log.at(
            "10:50:33.871",
            "WARN",
            "poll-0",
            NETWORK,
            f"{consumer.tag} Disconnecting from node 4 due to request timeout.",
        ),
        log.at(
            "11:12:40.015", "ERROR", "fx-refresh", "c.p.recon.FxTable", "fx-rates answered 429, table of 11:02 kept"
        ),
    ]

    def draws(part: str) -> Stream:
        return Stream(SCENARIO_ID, "reconciler", part)

    return merge(
        by_hand,
        batches(draws("calm"), log, consumer, _TUESDAY.window("10:20:05", "10:29:30"), applier, trickle, _CALM_OFFSET),
        batches(
            draws("drop"),
            log,
            consumer,
            _TUESDAY.window("10:30:02.100", "10:31:04"),
            applier,
            drop,
            _HELD_OFFSET - 1000,
        ),
        outlasting_batches(
            draws("loaded"),
            log,
            consumer,
            _TUESDAY.window("10:31:34.407", "11:16"),
            applier,
            4000,
            _HELD_OFFSET,
            Group(members=12, generation=404, poll_interval_ms=300_000),
        ),
        held_watermark(draws("mark"), log, consumer, _TUESDAY.window("10:31:33", "11:22"), 380_000, _HELD_OFFSET),
        fetch_hiccups(draws("fetch"), log, consumer, whole, 420_000),
        collector_pauses(draws("gc-calm"), log, calm, 150_000, Heap(3072, 1180, 160, 38), 808),
        collector_pauses(draws("gc-loaded"), log, loaded, 190_000, Heap(3072, 2410, 220, 160), 813),
        pool_statistics(draws("pool"), log, whole, 260_000, "ledger", 16, 5),
        probes(draws("probes"), log, whole, 330_000, "kafka=UP ledger=UP"),
    )


def _gateway_log() -> str:
    log = EnvoyLog(_TUESDAY)
    balance, writer, fx = "balance-api:8080", "ledger-writer:8080", "fx-rates:8080"
    read = Route("GET", "/v1/balances/ac_{id}", balance, (11, 60))
    transfer = Route("POST", "/v1/transfers", writer, (30, 110), ((201, "-"), (201, "-"), (201, "-"), (422, "-")))
    quote = Route("GET", "/v1/fx/{id}", fx, (4, 19), ((200, "-"), (200, "-"), (200, "-"), (429, "-")))
    statement = Route("GET", "/v1/statements/st_{id}", balance, (90, 700))
    timed_out = Route("GET", "/v1/balances/ac_{id}", balance, (15_000, 15_003), ((504, "UT"),))
    by_hand = [
        log.at(
            "10:44:09.310",
            Call("GET /v1/statements/st_77b1c0fe/export", 504, 60_001, EXPORT_REQUEST, balance, "UT", 24),
        ),
        log.at("10:48:30.117", Call("POST /v1/transfers", 503, 204, "1f8a6ce2", writer, "UC", 95)),
        log.at("10:49:02.740", Call("POST /v1/transfers", 201, 412, "aa04d97c", writer, "-", 310)),
        log.at("10:51:29.026", Call("GET /v1/balances/ac_0c2297d5", 0, 9_412, LEFT_REQUEST, balance, "DC", 0)),
        log.at("10:51:34.402", Call("GET /v1/balances/ac_51f0be3a", 504, 15_001, FIRST_REQUEST, balance, "UT", 24)),
        log.at("10:53:04.655", Call("GET /v1/balances/ac_e21d9940", 504, 15_002, PAGED_REQUEST, balance, "UT", 24)),
    ]
    before, after = _TUESDAY.window("10:38", "10:51:20"), _TUESDAY.window("10:51:50", "11:06")
    return merge(
        by_hand,
        requests(
            Stream(SCENARIO_ID, "gateway", "before"), log, before, 21_000, (read, read, transfer, quote, statement)
        ),
        requests(
            Stream(SCENARIO_ID, "gateway", "after"), log, after, 26_000, (timed_out, read, transfer, quote, timed_out)
        ),
    )


def _balance_log() -> str:
    log = JsonLog(_TUESDAY)
    served = Event("info", "balance served", "req", "", (8, 44), "gate open")
    old_copy = Event("info", "balance served", "req", "", (8, 44), "old copy, caller allows it")
    listed = Event("info", "statement page", "req", "", (60, 410), "replica")
    waited = Event("warn", "read gate shut, caller gone", "req", "", (15_000, 15_030), "s7")
    acked = Event("info", "transfer ack seen", "transfer", "tr_", (20, 95), "ledger-writer")
    by_hand = [
        log.at(
            "10:36:01.200",
            "info",
            "gates",
            s7="marks.s7 from group settlement-recon",
            s12="marks.fx from fx-rates",
            tolerate_s=1200,
        ),
        log.at("10:41:20.077", "info", "settings applied", revision=2209, keys="gate.recheck_ms"),
        log.at("10:44:08.991", "warn", "export slow, replica busy", req=EXPORT_REQUEST, ms=60_000),
        log.at("10:47:52.610", "warn", "ledger-writer ack slow while instances roll", transfer="tr_b2208f15", ms=412),
        log.at(
            "10:48:31.004", "error", "ledger-writer connection reset, request repeated", transfer="tr_09dd41c6", ms=204
        ),
        log.at(
            "10:51:34.431",
            "warn",
            "read gate shut, holding",
            req=FIRST_REQUEST,
            shard="s7",
            have=_HELD_OFFSET,
            age_s=1200,
        ),
        log.at("10:51:49.432", "warn", "read gate shut, caller gone", req=FIRST_REQUEST, via="s7", ms=15_001),
        log.at("10:55:10.815", "error", "avatar lookup failed", account="ac_7b90e6d2", cause="404"),
    ]
    before, after = _TUESDAY.window("10:36", "10:51:20"), _TUESDAY.window("10:51:50", "11:10")
    return merge(
        by_hand,
        events(Stream(SCENARIO_ID, "balance", "before"), log, before, 27_000, (served, served, listed, acked)),
        events(Stream(SCENARIO_ID, "balance", "after"), log, after, 30_000, (old_copy, waited, listed, acked, waited)),
    )


def _metrics() -> str:
    calm = (6, 7, 6, 6)
    return metrics_csv.table(
        _TUESDAY,
        "09:55",
        5,
        (
            Series("in_s", (6, 221, *calm, 6, 219, *calm, 7, 217, *calm, 6)),
            Series("done_s", (6, 131, 96, 7, 6, 6, 6, 44, *(0,) * 11)),
            Series(
                "lag",
                (
                    410,
                    27410,
                    410,
                    410,
                    390,
                    400,
                    410,
                    52910,
                    54710,
                    56810,
                    58610,
                    60410,
                    62510,
                    127610,
                    129410,
                    131510,
                    133310,
                    135110,
                    136910,
                ),
            ),
            Series("db_p95_ms", (38, 41, 39, 37, 38, 38, 39, 40, 39, 38, 39, 38, 41, 40, 39, 39, 38, 40, 39)),
            Series("gw_504", (0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 148, 231, 240, 236, 229, 244, 238, 241)),
        ),
    )


def _deploys() -> str:
    return history(
        "payments, newest first (times UTC)",
        (
            Deploy(
                "dep-9034",
                "ledger-writer",
                "2025-06-17 10:47",
                "live",
                "p.achterberg",
                ("posting path: new batcher", "first instance out 10:47:05, last one in 10:50:40"),
            ),
            Deploy("dep-9033", "fx-rates", "2025-06-17 08:20", "live", "l.osei", ("quota per key",)),
            Deploy("dep-9027", "reconciler", "2025-06-16 15:10", "live", "h.virtanen", ("reject reasons in the log",)),
            Deploy("dep-9025", "api-gateway", "2025-06-13 09:41", "live", "c.duarte", ("access log: shorter ids",)),
            Deploy("dep-9021", "balance-api", "2025-06-12 13:02", "live", "n.rahimi", ("gates per shard",)),
        ),
    )


def _config_changes() -> str:
    return changes(
        (
            ConfigChange(
                "cfg-2210",
                "7d03f1c",
                "c.duarte",
                "2025-06-17 10:58",
                "gateway: no repeat of GETs during INC-9602",
                "gateway/prod.yaml",
                ("-retry.get: 1", "+retry.get: 0"),
            ),
            ConfigChange(
                "cfg-2209",
                "c19e84b",
                "n.rahimi",
                "2025-06-17 10:41",
                "balance-api: look at the gates less often",
                "balance-api/prod.yaml",
                ("-gate.recheck_ms: 200", "+gate.recheck_ms: 1000"),
            ),
            ConfigChange(
                "cfg-2207",
                "3ab52e6",
                "h.virtanen",
                "2025-06-17 10:30",
                "fewer round trips after each half-hourly drop",
                "recon/prod.yaml",
                (
                    "-max.poll.records: 500",
                    "+max.poll.records: 4000",
                    "-fetch.max.bytes: 4194304",
                    "+fetch.max.bytes: 33554432",
                ),
            ),
            ConfigChange(
                "cfg-2203",
                "e80d917",
                "l.osei",
                "2025-06-16 17:22",
                "fx-rates: quota per key",
                "fx-rates/prod.yaml",
                ("+quota.per_key_s: 20",),
            ),
        )
    )


def _ticket() -> str:
    return ticket.page(
        ticket.Ticket(
            "INC-9602",
            "Balance reads time out",
            "1",
            "2025-06-17 10:53",
            "pager",
            (
                "Gateway 504 ratio on balance reads above 5 % for 2 min, rising. Support: balances are old.",
                f"First report: merchant Kestrel, the gateway gave up on their request id {EXPORT_REQUEST} at 10:45.",
                "Also firing: RejectsNotEmpty settlements.v3.rejects (2), HeapHigh reconciler 5514-5525.",
            ),
            (("11:05", "p.achterberg", "Writer error rate was back to 0 at 10:51. I can roll back if you want."),),
        )
    )


def _chat() -> str:
    return chat.transcript(
        "#inc-9602, 2025-06-17",
        (
            ("10:55", "c.duarte", f"504s on balances. sample request from the page: {PAGED_REQUEST}"),
            (
                "10:57",
                "n.rahimi",
                "the change behind this is the ledger-writer one, no? it began minutes after 9034. class: bad deploy",
            ),
            ("11:03", "p.achterberg", "transfers post fine on the new batcher, 40 ms"),
            (
                "11:09",
                "n.rahimi",
                "one service withheld what every waiting request wants: ledger-db, there is a deadlock in 5521's log",
            ),
            ("11:20", "h.virtanen", "bounced 5519 and 5520, as bad as before after two minutes. heap right up again"),
            ("11:31", "c.duarte", "feed drop of 11:00 went in on top. same size as every half hour"),
            ("12:40", "c.duarte", "handing over. writer not rolled back yet, nobody is sure"),
        ),
    )


def _runbook() -> str:
    return runbook.page(
        "Stale or missing balances",
        "2025-04-09",
        (
            runbook.Section(
                "Reading the gateway log",
                ("UT: we stopped waiting for the upstream. DC: the caller hung up. UC: the upstream hung up.",),
            ),
            runbook.Section(
                "Settlements behind",
                (
                    "To let it catch up and keep well: add reconciler instances, one at a time.",
                    "A member beyond the number of partitions stays idle.",
                    "RejectsNotEmpty: refused records wait for finance; nothing queues behind them.",
                ),
            ),
            runbook.Section(
                "Settings",
                ("`settings revert <revision>` is live within 30 s on all instances, no bounce needed.",),
            ),
        ),
    )


def _add_facts(case: CaseBuilder) -> None:
    case.fact(
        "first-timeout",
        "the first balance read the gateway stopped waiting for",
        Quote(GATEWAY, f'504 UT 24 15001 "{FIRST_REQUEST}"'),
    )
    case.fact(
        "flags", "only UT means that the gateway gave up", Quote(RUNBOOK, "UT: we stopped waiting for the upstream")
    )
    case.fact(
        "gate",
        "that request waited for the mark of shard s7",
        Quote(BALANCE, f'"req":"{FIRST_REQUEST}","shard":"s7","have":{_HELD_OFFSET}'),
    )
    case.fact(
        "gate-feeder",
        "the mark of s7 comes from group settlement-recon",
        Quote(BALANCE, "marks.s7 from group settlement-recon"),
    )
    case.fact(
        "mark-held",
        "the reconciler's mark for s7 stands still",
        Quote(RECONCILER, f"publish s7={_HELD_OFFSET} (unchanged"),
    )
    case.fact(
        "revision", "the new settings took effect at 10:31:04", Quote(RECONCILER, "revision 2207 in effect (was 2198)")
    )
    case.fact("batch-size", "what revision 2207 changed", Quote(CONFIGS, "+max.poll.records: 4000"))
    case.fact(
        "full",
        "the apply stage is full and the poll loop stands",
        Quote(RECONCILER, "fill=1.00 (500/500), poll-0 parked"),
    )
    case.fact(
        "put-out", "the member outlasts the poll interval", Quote(RECONCILER, "consumer poll timeout has expired")
    )
    case.fact(
        "onset",
        "nothing was done from 10:35 on, with the database as fast as ever",
        Quote(METRICS, "10:35,6,0,54710,39,0"),
    )
    case.fact(
        "deploy-later",
        "the writer's deploy began when lag had long been growing",
        Quote(DEPLOYS, "first instance out 10:47:05"),
    )
    case.fact(
        "one-each",
        "every partition already has its member",
        Quote(RECONCILER, "12 members, 12 partitions, settlements.v3-7 is ours"),
    )
    case.fact(
        "idle-member",
        "more members than partitions are idle",
        Quote(RUNBOOK, "beyond the number of partitions stays idle"),
    )
    case.fact("revert", "settings can be put back live", Quote(RUNBOOK, "is live within 30 s on all instances"))
    case.fact("bounce", "a restart alone changes nothing", Quote(CHAT, "bounced 5519 and 5520, as bad as before"))


def _add_decoys(case: CaseBuilder) -> None:
    case.decoy(
        "export",
        "a customer's slow export, as on any day",
        Quote(TICKET, f"request id {EXPORT_REQUEST}"),
        Quote(GATEWAY, f'504 UT 24 60001 "{EXPORT_REQUEST}"'),
    )
    case.decoy("left", "a caller who hung up by himself", Quote(GATEWAY, f'0 DC 0 9412 "{LEFT_REQUEST}"'))
    case.decoy(
        "paged",
        "the sample that the page shows, not the first",
        Quote(CHAT, f"from the page: {PAGED_REQUEST}"),
        Quote(GATEWAY, f'504 UT 24 15002 "{PAGED_REQUEST}"'),
    )
    case.decoy(
        "fresh-deploy",
        "a ledger-writer deploy that ended a minute before",
        Quote(DEPLOYS, "posting path: new batcher"),
        Quote(CHAT, "it began minutes after 9034"),
    )
    case.decoy(
        "slow-acks",
        "the writer was slow while its instances rolled",
        Quote(BALANCE, "ledger-writer ack slow while instances roll"),
        Quote(BALANCE, "ledger-writer connection reset"),
    )
    case.decoy(
        "deadlock",
        "one deadlock, over in 41 ms",
        Quote(RECONCILER, "ERROR: deadlock detected"),
        Quote(CHAT, "there is a deadlock in 5521's log"),
    )
    case.decoy(
        "broker", "one broker connection dropped", Quote(RECONCILER, "Disconnecting from node 4 due to request timeout")
    )
    case.decoy(
        "rejects",
        "two refused records, set aside",
        Quote(RECONCILER, "moved to settlements.v3.rejects"),
        Quote(TICKET, "RejectsNotEmpty settlements.v3.rejects"),
    )
    case.decoy(
        "heap",
        "the heap is high because the buffers are full",
        Quote(TICKET, "HeapHigh reconciler 5514-5525"),
        Quote(CHAT, "heap right up again"),
    )
    case.decoy(
        "other-setting",
        "a settings change of the waiting side, minutes before",
        Quote(CONFIGS, "+gate.recheck_ms: 1000"),
        Quote(BALANCE, '"revision":2209'),
    )
    case.decoy("scale-advice", "the runbook's first advice", Quote(RUNBOOK, "add reconciler instances, one at a time"))


def _add_questions(case: CaseBuilder) -> None:
    backpressure = FaultClass.QUEUE_BACKPRESSURE.value
    holder = ("gate", "gate-feeder", "mark-held")
    cause = ("revision", "batch-size", "full", "put-out", "onset", "deploy-later")
    repair = ("batch-size", "one-each", "idle-member", "revert", "bounce")
    ask_for_diagnosis(
        case,
        Diagnosis(
            service=Conclusion(("reconciler",), ("gate-feeder", "mark-held")),
            fault_class=Conclusion((backpressure,), ("batch-size", "full", "put-out")),
            trigger=Conclusion(("cfg-2207", "2207", "revision 2207"), ("revision", "batch-size")),
            remediation=Conclusion((RESTORE,), ("batch-size", "revert")),
        ),
        services=(
            "api-gateway",
            "balance-api",
            "fx-rates",
            "kafka",
            "ledger-db",
            "ledger-writer",
            "reconciler",
            "settlement-feed",
        ),
        remediations=(
            ADD_INSTANCES,
            FAIL_OVER,
            LONGER_TIMEOUT,
            MORE_HEAP,
            RESTORE,
            ROLL_BACK,
            SKIP_REJECTS,
        ),
    )
    case.subtask(
        "trace",
        "Which request id is the first balance read that the gateway flags UT, and not DC or UC?",
        (REQUEST_ID,),
        QuestionKind.LOOKUP,
        lexical=True,
        needs=("first-timeout", "flags"),
        right=Reply(
            {REQUEST_ID: FIRST_REQUEST},
            f"Request {FIRST_REQUEST}, started 10:51:34, is the first balance read with flag UT.",
        ),
        wrong=(
            Reply({REQUEST_ID: EXPORT_REQUEST}, f"The first report names request {EXPORT_REQUEST}.", ("export",)),
            Reply(
                {REQUEST_ID: LEFT_REQUEST},
                f"Balance read {LEFT_REQUEST} ended without a status at 10:51:29.",
                ("left",),
            ),
            Reply({REQUEST_ID: PAGED_REQUEST}, f"The page shows {PAGED_REQUEST}, a 504 at 10:53:04.", ("paged",)),
        ),
    )
    case.subtask(
        "holder",
        "What was request {request_id} waiting for, and which service withheld it?",
        (SERVICE,),
        QuestionKind.CAUSAL,
        lexical=False,
        needs=holder,
        right=Reply(
            {SERVICE: "reconciler"},
            f"It waited for the mark of s7, at {_HELD_OFFSET} for 1200 s; that mark is published by the reconciler and "
            "stands still.",
        ),
        wrong=(
            Reply(
                {SERVICE: "ledger-writer"},
                "It waited for ledger-writer, whose acks were slow.",
                ("slow-acks", "fresh-deploy"),
            ),
            Reply({SERVICE: "ledger-db"}, "It waited for ledger-db, which had a deadlock.", ("deadlock",)),
            Reply({SERVICE: "kafka"}, "It waited for records of a broker that times out.", ("broker",)),
            Reply({SERVICE: "balance-api"}, "It waited inside balance-api, whose gate is shut."),
        ),
        slot=Slot(name=REQUEST_ID, from_subtask_id="trace"),
        slot_value=FIRST_REQUEST,
    )
    case.subtask(
        "cause",
        "Which class of fault is behind this, and which change began it?",
        (FAULT_CLASS, TRIGGER),
        QuestionKind.CAUSAL,
        lexical=False,
        needs=cause,
        right=Reply(
            {FAULT_CLASS: backpressure, TRIGGER: "cfg-2207"},
            "From 10:31 revision 2207 polls 4000 records at once; the apply stage fills, the member is put out before "
            "it commits. Lag grew before dep-9034.",
        ),
        wrong=(
            Reply(
                {FAULT_CLASS: FaultClass.BAD_DEPLOY.value, TRIGGER: "dep-9034"},
                "The new batcher of dep-9034 went live a minute before the first timeout.",
                ("fresh-deploy",),
            ),
            Reply(
                {FAULT_CLASS: FaultClass.DEADLOCK.value, TRIGGER: "dep-9034"},
                "dep-9034's batcher and the reconciler lock each other's rows.",
                ("deadlock",),
            ),
            Reply(
                {FAULT_CLASS: FaultClass.POISON_MESSAGE.value, TRIGGER: "settlements.v3.rejects"},
                "A refused record blocks the partition and is delivered again.",
                ("rejects",),
            ),
            Reply(
                {FAULT_CLASS: FaultClass.LEAK.value, TRIGGER: "dep-9027"},
                "The reconciler's heap has been filling since its last deploy.",
                ("heap",),
            ),
            Reply(
                {FAULT_CLASS: FaultClass.CONFIG_DRIFT.value, TRIGGER: "cfg-2209"},
                "cfg-2209 made balance-api look at its gates too rarely from 10:41.",
                ("other-setting",),
            ),
            Reply(
                {FAULT_CLASS: FaultClass.RETRY_STORM.value, TRIGGER: "cfg-2210"},
                "Repeated GETs pile up at the gateway.",
            ),
        ),
    )
    case.subtask(
        "repair",
        "Which action lets it catch up and keep well?",
        (REMEDIATION,),
        QuestionKind.CAUSAL,
        lexical=False,
        needs=repair,
        right=Reply(
            {REMEDIATION: RESTORE},
            "Put max.poll.records back to 500; a revert is live in 30 s. Bouncing did not help, and with 12 members "
            "for 12 partitions more would idle.",
        ),
        wrong=(
            Reply(
                {REMEDIATION: ADD_INSTANCES}, "Settlements are behind: add instances, one at a time.", ("scale-advice",)
            ),
            Reply(
                {REMEDIATION: ROLL_BACK}, "Undo the deploy that preceded the timeouts.", ("fresh-deploy", "slow-acks")
            ),
            Reply({REMEDIATION: MORE_HEAP}, "The heap is full after every bounce.", ("heap",)),
            Reply({REMEDIATION: SKIP_REJECTS}, "Get the refused records out of the way.", ("rejects",)),
            Reply({REMEDIATION: FAIL_OVER}, "Transactions of ledger-db lock each other.", ("deadlock",)),
            Reply({REMEDIATION: LONGER_TIMEOUT}, "Reads need more than 15 s while marks are old."),
        ),
    )


def _add_cache(case: CaseBuilder) -> None:
    case.cached(
        "cache-1408",
        "trace",
        "Which request id is the first balance read that timed out at the gateway on 17 June?",
        {REQUEST_ID: FIRST_REQUEST},
        f"{FIRST_REQUEST}, started 10:51:34, flag UT.",
        VERSION,
        1,
        (
            Quote(GATEWAY, f'504 UT 24 15001 "{FIRST_REQUEST}"'),
            Quote(RUNBOOK, "UT: we stopped waiting for the upstream"),
        ),
        CacheValidity.VALID,
    )
    case.cached(
        "cache-1371",
        "cause",
        "Which class of fault is behind stale balances, and which change began it?",
        {FAULT_CLASS: FaultClass.POISON_MESSAGE.value, TRIGGER: "settlements.v3.rejects"},
        "A record without currency was delivered again and again.",
        VERSION,
        26,
        (Quote(RUNBOOK, "RejectsNotEmpty: refused records wait for finance"),),
        CacheValidity.STALE,
    )
    case.cached(
        "cache-1399",
        "repair",
        "Which action lets the reconciler catch up?",
        {REMEDIATION: ADD_INSTANCES},
        "Eight members for twelve partitions: add instances.",
        "payments-2025.25-rc1",
        2,
        (Quote(RUNBOOK, "add reconciler instances, one at a time"),),
        CacheValidity.WRONG_VERSION,
    )
    case.cached(
        "cache-1322",
        "repair",
        "Which action makes reconciler heap alerts go away for good?",
        {REMEDIATION: MORE_HEAP},
        "Restart with a larger heap.",
        "payments-2025.21",
        530,
        (Quote(RUNBOOK, "A member beyond the number of partitions"),),
        CacheValidity.WRONG_VERSION,
    )
    case.cached(
        "cache-1410",
        "holder",
        f"What was request {FIRST_REQUEST} waiting for, and which service withheld it?",
        {SERVICE: "reconciler"},
        f"The mark of s7 stood at {_HELD_OFFSET}; the reconciler publishes it.",
        VERSION,
        1,
        (
            Quote(BALANCE, f'"req":"{FIRST_REQUEST}","shard":"s7","have":{_HELD_OFFSET}'),
            Quote(BALANCE, "marks.s7 from group settlement-recon"),
            Quote(RECONCILER, f"publish s7={_HELD_OFFSET} (unchanged"),
        ),
        CacheValidity.VALID,
    )
