"""One of three address-resolver hosts still serves a leaf certificate that has run out.

The renewed leaf has lain on disk for a week: the agent's hook asked for a reload that the unit does not have,
and the other two hosts happened to be restarted since. A third of the calls fail two services away, minutes
after a checkout deploy, while a clock step on the very host and another certificate's warning draw the eye.
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
    REMEDIATION,
    SERVICE,
    TRIGGER,
    Conclusion,
    Diagnosis,
    FaultClass,
    ask_for_diagnosis,
)
from TokenOptEnv.task_defs.incident.writers import chat, runbook, ticket
from TokenOptEnv.task_defs.incident.writers.clock import Clock
from TokenOptEnv.task_defs.incident.writers.deploy_history import Deploy, history
from TokenOptEnv.task_defs.incident.writers.entries import Entry, merge
from TokenOptEnv.task_defs.incident.writers.go_logfmt import (
    Exchange,
    LogfmtLog,
    exchanges,
    runtime_statistics,
    short_circuits,
)
from TokenOptEnv.task_defs.incident.writers.json_lines import Event, JsonLog, events
from TokenOptEnv.task_defs.incident.writers.syslog import Journal, housekeeping, served

SCENARIO_ID: Final = "incident-easy-checkout-estimates"
VERSION: Final = "shop-2025.w10"

CHECKOUT: Final = "log-checkout"
TAX: Final = "log-tax-engine"
JOURNAL: Final = "journal-ar-2"
UPSTREAMS: Final = "config-tax-upstreams"
DEPLOYS: Final = "deploys-shop"
TICKET: Final = "ticket-8127"
CHAT: Final = "chat-inc-8127"
RUNBOOK: Final = "runbook-estimates"

RESTART_RESOLVER: Final = "restart the address-resolver process"
RESTART_TAX: Final = "restart tax-engine to reset its breakers"
ROLL_BACK: Final = "roll back checkout to the previous release"
NEW_LEAF: Final = "issue a new certificate from the CA"
RESYNC: Final = "resync the host clocks"

_TUESDAY = Clock(2025, 3, 11)


def build() -> Scenario:
    case = CaseBuilder(
        scenario_id=SCENARIO_ID,
        family="incident",
        difficulty=Difficulty.EASY,
        title="Checkout shows no tax estimate",
        brief=(
            "Since 13:40 UTC on 2025-03-11 about a third of checkouts show 'tax to be confirmed' and the estimate "
            "page keeps firing. It is 16:10 now and still going on. Say which service is at fault, the class of "
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
    case.artifact(TICKET, ArtifactKind.TICKET, "INC-8127: tax estimates missing at checkout", _ticket())
    case.artifact(CHECKOUT, ArtifactKind.LOG, "checkout, 13:30 to 14:12, info sampled", _checkout_log())
    case.artifact(TAX, ArtifactKind.LOG, "tax-engine, 13:32 to 14:08, info sampled", _tax_log())
    case.artifact(JOURNAL, ArtifactKind.LOG, "journal of host ar-2, excerpts since February", _journal())
    case.artifact(UPSTREAMS, ArtifactKind.CONFIG, "tax-engine upstreams as rendered", _UPSTREAMS_TEXT)
    case.artifact(DEPLOYS, ArtifactKind.HISTORY, "deploys of the shop cell, 5 to 11 March", _deploys())
    case.artifact(CHAT, ArtifactKind.CHAT, "#inc-8127", _chat())
    case.artifact(RUNBOOK, ArtifactKind.RUNBOOK, "tax estimates: what to do", _runbook())


def _checkout_log() -> str:
    log = JsonLog(_TUESDAY)
    before, after = _TUESDAY.window("13:30", "13:40"), _TUESDAY.window("13:40", "14:12")
    usual = (
        Event("info", "estimate ok", "order", "o-", (24, 71), "tax-engine"),
        Event("info", "estimate ok", "order", "o-", (24, 71), "tax-engine"),
        Event("info", "cart priced", "order", "o-", (6, 30), "pricing"),
        Event("info", "session refreshed", "session", "s-", (1, 9), "session-cache"),
    )
    degraded = Event("warn", "estimate degraded", "order", "o-", (9, 18), "tax-engine")
    slow_session = Event("warn", "session-cache read slow, serving checkout from cookie", "session", "s-", (204, 390))
    by_hand = [
        log.at("13:36:41.310", "info", "starting", build="w10.4", deploy="dep-7713", flags="estimate_v2=off"),
        log.at("13:36:44.902", "info", "ready", listeners=2, warm_ms=3550),
        log.at(
            "13:40:02.131",
            "warn",
            "estimate degraded (detail of 1 in 20)",
            order="o-5d0c91fe",
            via="tax-engine",
            code="UNAVAILABLE",
            detail="locate: geo refused",
            ms=11,
        ),
        log.at(
            "13:47:30.877",
            "error",
            "receipt render failed, default template used",
            order="o-90be1177",
            cause="missing locale nn_NO",
        ),
        log.at(
            "13:55:18.640",
            "warn",
            "estimate degraded (detail of 1 in 20)",
            order="o-e17730ab",
            via="tax-engine",
            code="UNAVAILABLE",
            detail="locate: geo refused",
            ms=12,
        ),
        log.at("14:03:09.015", "error", "payment intent declined", order="o-2fa5c0d8", psp_code="do_not_honor"),
    ]
    return merge(
        by_hand,
        events(Stream(SCENARIO_ID, "checkout", "before"), log, before, 42_000, usual),
        events(Stream(SCENARIO_ID, "checkout", "after"), log, after, 80_000, usual),
        events(Stream(SCENARIO_ID, "checkout", "degraded"), log, after, 165_000, (degraded,)),
        events(
            Stream(SCENARIO_ID, "checkout", "session"), log, _TUESDAY.window("13:31", "14:10"), 420_000, (slow_session,)
        ),
    )


def _tax_log() -> str:
    log = LogfmtLog(_TUESDAY)
    whole = _TUESDAY.window("13:32", "14:08")
    geo_peers = ("10.42.7.17:8443", "10.42.7.18:8443", "10.42.7.19:8443")
    located = Exchange("located", "geo", geo_peers, (4, 14))
    located_elsewhere = Exchange("located", "geo", (geo_peers[0], geo_peers[2]), (5, 19))
    rated = Exchange("rates read", "rates", ("10.42.9.4:6432", "10.42.9.5:6432"), (1, 6))
    verify = "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time"
    by_hand = [
        log.at(
            f"13:40:02.{118 + 9 * n}",
            "WARN",
            "locate failed",
            upstream="geo",
            peer=geo_peers[1],
            err=f"{verify} 2025-03-11T13:40:02Z is after 2025-03-11T13:40:00Z",
        )
        for n in range(2)
    ]
    by_hand += [
        log.at("13:40:02.640", "WARN", "breaker opened", upstream="geo", peer=geo_peers[1], failures=5),
        log.at("13:44:51.220", "WARN", "rates snapshot older than wanted", upstream="rates", age_s=940, want_s=900),
        log.at(
            "13:52:33.007",
            "WARN",
            "half-open probe failed",
            upstream="geo",
            peer=geo_peers[1],
            err=f"{verify} 2025-03-11T13:52:33Z is after 2025-03-11T13:40:00Z",
        ),
        log.at(
            "13:58:10.404",
            "ERROR",
            "rate row skipped",
            upstream="rates",
            peer="10.42.9.4:6432",
            err="region FR-20R has no table for 2025-03",
        ),
    ]
    return merge(
        by_hand,
        exchanges(
            Stream(SCENARIO_ID, "tax", "before"), log, _TUESDAY.window("13:32", "13:40"), 45_000, (located, rated)
        ),
        exchanges(
            Stream(SCENARIO_ID, "tax", "after"),
            log,
            _TUESDAY.window("13:40", "14:08"),
            105_000,
            (located_elsewhere, rated),
        ),
        short_circuits(
            Stream(SCENARIO_ID, "tax", "short"),
            log,
            _TUESDAY.window("13:40:04", "14:08"),
            125_000,
            "locate refused",
            "geo",
            geo_peers[1],
        ),
        runtime_statistics(Stream(SCENARIO_ID, "tax", "runtime"), log, whole, 300_000, 96),
    )


def _journal() -> str:
    started, renewal, today = (Journal(Clock(2025, month, day), "ar-2") for month, day in ((2, 9), (3, 4), (3, 11)))
    unit, pid = "address-resolver", 1842
    february = [
        started.at("03:12:43", "systemd", 1, "Started address-resolver.service - address lookup."),
        started.at(
            "03:12:44", unit, pid, "level=info msg=listening addr=:8443 leaf=3f9a61c2 valid_to=2025-03-11T13:40:00Z"
        ),
        started.at("03:12:53", unit, pid, "level=info msg=gazetteer rows=4188213 from=places-db took_ms=8812"),
    ]
    fourth_of_march = [
        renewal.at("02:10:06", "cert-agent", 911, "address-resolver: 7 d left, asking ca-internal for a new leaf"),
        renewal.at(
            "02:10:07", "cert-agent", 911, "address-resolver: wrote /etc/pki/svc/tls.crt leaf=71d04e88 until 2025-06-02"
        ),
        renewal.at(
            "02:10:07",
            "cert-agent",
            911,
            "post-hook rc=1: Failed to reload address-resolver.service: Job type reload is not applicable for unit.",
        ),
        renewal.at("02:10:08", "cert-agent", 911, "run complete: 4 checked, 1 renewed, 0 errors"),
        renewal.at("02:31:40", "chronyd", 644, "System clock wrong by 0.982211 seconds, adjustment started"),
    ]
    eleventh_of_march = [
        today.at("13:35:08", unit, pid, "level=warn msg=gazetteer refresh slow from=places-db took_ms=41873"),
        today.at("13:38:51", "chronyd", 644, "System clock wrong by -1.204133 seconds, adjustment started"),
        today.at("13:38:52", "chronyd", 644, "Selected source 10.42.0.3 (ntp-b)"),
        today.at("13:43:20", unit, pid, "level=warn msg=handshake remote=10.42.6.31:51622 err=EOF"),
        today.at("13:52:33", unit, pid, "level=warn msg=handshake remote=10.42.6.31:52108 err=EOF"),
        today.at("14:10:06", "cert-agent", 911, "run complete: 4 checked, 0 renewed, 0 errors"),
        today.at("14:31:12", "chronyd", 644, "Source 10.42.0.2 replaced with 10.42.0.4 (ntp-c)"),
    ]

    def excerpt(journal: Journal, begin: str, end: str, every_ms: int, by_hand: list[Entry]) -> str:
        hours = journal.clock.window(begin, end)
        day = journal.clock.short(0)
        return merge(
            by_hand,
            housekeeping(Stream(SCENARIO_ID, "journal", day), journal, hours, every_ms),
            served(Stream(SCENARIO_ID, "journal", day, unit), journal, hours, every_ms * 3, unit, pid),
        )

    return "-- skipped --\n".join(
        (
            excerpt(started, "03:13", "03:40", 300_000, february),
            excerpt(renewal, "01:30", "02:50", 420_000, fourth_of_march),
            excerpt(today, "13:20", "14:50", 260_000, eleventh_of_march),
        )
    )


_UPSTREAMS_TEXT: Final = """\
# tax-engine@prod, rendered by confd 2025-03-10T22:00:04Z, checksum 9c41
upstreams:
  rates:
    service: rates-store
    endpoints: [10.42.9.4:6432, 10.42.9.5:6432]
    timeout_ms: 1500
  geo:
    service: address-resolver
    tls: {ca: /etc/pki/internal-ca.pem, verify: full}
    endpoints:
      - {addr: 10.42.7.17:8443, host: ar-1}
      - {addr: 10.42.7.18:8443, host: ar-2}
      - {addr: 10.42.7.19:8443, host: ar-3}
    breaker: {failures: 5, open_s: 30, scope: endpoint}
    retry: none
  holidays:
    service: pricing
    endpoints: [10.42.5.20:8080]
    timeout_ms: 300
"""


def _deploys() -> str:
    return history(
        "shop cell, newest first (times UTC)",
        (
            Deploy(
                "dep-7713",
                "checkout",
                "2025-03-11 13:36",
                "live",
                "m.okafor",
                ("estimate client: new default timeouts",),
            ),
            Deploy("dep-7712", "pricing", "2025-03-11 09:14", "live", "r.lindqvist", ("coupon rounding",)),
            Deploy("dep-7709", "checkout", "2025-03-07 15:02", "replaced", "m.okafor", ("receipt templates",)),
            Deploy("dep-7706", "tax-engine", "2025-03-07 10:40", "live", "s.varga", ("2025 Q1 rate tables",)),
            Deploy("mnt-0311", "ar-1 ar-3", "2025-03-06 04:00", "done", "platform", ("kernel update, hosts rebooted",)),
            Deploy(
                "mnt-0312",
                "ar-2",
                "2025-03-06 05:00",
                "deferred",
                "platform",
                ("no spare capacity, moved to 13 March",),
            ),
            Deploy("dep-7701", "edge-gateway", "2025-03-05 16:21", "live", "t.brandt", ("header size limit",)),
        ),
    )


def _ticket() -> str:
    return ticket.page(
        ticket.Ticket(
            "INC-8127",
            "Tax estimates missing at checkout",
            "2",
            "2025-03-11 13:46",
            "pager",
            (
                "EstimateSuccessRatio below 0.80 for 5 min (0.67). Customers see 'tax to be confirmed'.",
                "Impact: EU and US storefronts alike. No latency change at edge-gateway.",
                "Also firing: CertExpiresSoon edge-gateway leaf 5b20aa17 (6 d left).",
                "Also firing: SessionCacheSlowReads (flapping since Friday).",
            ),
            (
                (
                    "13:58",
                    "m.okafor",
                    "The service behind the missing tax estimates is checkout: dep-7713 is four minutes older.",
                ),
                ("14:26", "s.varga", "tax-engine CPU and memory normal, rates-store normal."),
            ),
        )
    )


def _chat() -> str:
    return chat.transcript(
        "#inc-8127, 2025-03-11",
        (
            ("13:49", "pager", "INC-8127 EstimateSuccessRatio 0.67, owner checkout"),
            ("13:57", "m.okafor", "we shipped 7713 at 13:36, timeouts changed. want me to revert?"),
            (
                "14:02",
                "t.brandt",
                "what exactly set it off? class it as a clock fault: chronyd stepped ar-2 a minute before",
            ),
            ("14:05", "s.varga", "the other hosts step twice a week too and nobody notices"),
            ("14:20", "m.okafor", "put checkout-3 back on 7709 as a try. same third of estimates gone there"),
            ("14:33", "l.haddad", "cert-agent dashboard is green on every host, so not that"),
            ("15:10", "t.brandt", "handing over to the evening shift, nothing changed since 14:20"),
        ),
    )


def _runbook() -> str:
    return runbook.page(
        "Tax estimates",
        "2024-11-02",
        (
            runbook.Section(
                "Estimates missing",
                (
                    "To restore estimates for good, restart tax-engine: its breakers start closed.",
                    "If a release is younger than 15 minutes, roll it back first and look later.",
                ),
            ),
            runbook.Section(
                "Address lookup",
                (
                    "ar-1..3 are equal and stateless; one at a time may be taken out for two minutes.",
                    "The daemon opens its key pair once, when it comes up.",
                ),
            ),
            runbook.Section(
                "Internal certificates",
                (
                    "cert-agent renews at 7 days. Green means the file on disk is young.",
                    "Ask the CA by hand only when the file on disk is past its date.",
                ),
            ),
        ),
    )


def _add_facts(case: CaseBuilder) -> None:
    case.fact("degraded", "checkout fails in tax-engine's address lookup", Quote(CHECKOUT, "locate: geo refused"))
    case.fact(
        "one-peer",
        "only one endpoint of that upstream is shut out",
        Quote(TAX, 'msg="locate refused" upstream=geo peer=10.42.7.18:8443'),
        Quote(TAX, 'msg="breaker opened" upstream=geo peer=10.42.7.18:8443'),
    )
    case.fact("geo-name", "the upstream's alias is address-resolver", Quote(UPSTREAMS, "service: address-resolver"))
    case.fact("ran-out", "the peer's leaf ran out at 13:40:00", Quote(TAX, "is after 2025-03-11T13:40:00Z"))
    case.fact("leaf-in-use", "ar-2 serves the leaf it opened in February", Quote(JOURNAL, "leaf=3f9a61c2 valid_to="))
    case.fact("leaf-on-disk", "a renewed leaf lies on disk", Quote(JOURNAL, "tls.crt leaf=71d04e88 until 2025-06-02"))
    case.fact("no-reload", "the renewal never reached the process", Quote(JOURNAL, "Job type reload is not applicable"))
    case.fact("opened-once", "only a start reads the key pair", Quote(RUNBOOK, "opens its key pair once"))


def _add_decoys(case: CaseBuilder) -> None:
    case.decoy(
        "fresh-deploy",
        "a checkout deploy four minutes before",
        Quote(DEPLOYS, "dep-7713  checkout"),
        Quote(TICKET, "dep-7713 is four minutes older"),
        Quote(CHAT, "we shipped 7713 at 13:36"),
    )
    case.decoy(
        "clock-step",
        "the host's clock was stepped a minute before",
        Quote(JOURNAL, "System clock wrong by -1.204133 seconds"),
        Quote(CHAT, "chronyd stepped ar-2 a minute before"),
    )
    case.decoy("edge-leaf", "another certificate warns", Quote(TICKET, "CertExpiresSoon edge-gateway leaf 5b20aa17"))
    case.decoy(
        "slow-sessions",
        "an unrelated cache is slow",
        Quote(CHECKOUT, "session-cache read slow"),
        Quote(TICKET, "SessionCacheSlowReads"),
    )
    case.decoy(
        "slow-places",
        "a slow bulk read that nothing waits for",
        Quote(JOURNAL, "refresh slow from=places-db took_ms=41873"),
    )
    case.decoy(
        "breaker-advice", "the runbook's first advice", Quote(RUNBOOK, "restart tax-engine: its breakers start closed")
    )
    case.decoy("ca-advice", "the runbook names the CA", Quote(RUNBOOK, "Ask the CA by hand"))
    case.decoy(
        "roll-back-advice", "the runbook's second advice", Quote(RUNBOOK, "younger than 15 minutes, roll it back")
    )


def _add_questions(case: CaseBuilder) -> None:
    expired = FaultClass.EXPIRED_CERTIFICATE.value
    ask_for_diagnosis(
        case,
        Diagnosis(
            service=Conclusion(("address-resolver",), ("one-peer", "geo-name")),
            fault_class=Conclusion((expired,), ("ran-out",)),
            trigger=Conclusion(("3f9a61c2", "leaf 3f9a61c2", "0x3f9a61c2"), ("ran-out", "leaf-in-use")),
            remediation=Conclusion((RESTART_RESOLVER,), ("leaf-on-disk", "opened-once")),
        ),
        services=(
            "address-resolver",
            "checkout",
            "edge-gateway",
            "places-db",
            "pricing",
            "session-cache",
            "tax-engine",
        ),
        remediations=(
            "fail places-db over to its replica",
            NEW_LEAF,
            "raise the estimate timeout in checkout",
            RESTART_RESOLVER,
            RESTART_TAX,
            RESYNC,
            ROLL_BACK,
        ),
    )
    case.subtask(
        "culprit",
        "A breaker opened and an estimate is degraded with 'geo refused'. Which service are those endpoints of?",
        (SERVICE,),
        QuestionKind.CAUSAL,
        lexical=True,
        needs=("degraded", "one-peer", "geo-name"),
        right=Reply(
            {SERVICE: "address-resolver"},
            "Estimates fail where tax-engine calls its upstream geo, and only at 10.42.7.18; geo is address-resolver.",
        ),
        wrong=(
            Reply({SERVICE: "checkout"}, "checkout was deployed four minutes before the drop.", ("fresh-deploy",)),
            Reply({SERVICE: "session-cache"}, "checkout waits on slow session-cache reads.", ("slow-sessions",)),
            Reply({SERVICE: "places-db"}, "address-resolver reads places-db far too slowly.", ("slow-places",)),
            Reply({SERVICE: "tax-engine"}, "checkout's calls are refused by tax-engine, which is unhealthy."),
        ),
    )
    case.subtask(
        "cause",
        "What class of fault is it, and what exactly set it off?",
        (FAULT_CLASS, TRIGGER),
        QuestionKind.CAUSAL,
        lexical=False,
        needs=("ran-out", "leaf-in-use"),
        right=Reply(
            {FAULT_CLASS: expired, TRIGGER: "3f9a61c2"},
            "The peer's certificate ran out at 13:40:00: ar-2 still serves leaf 3f9a61c2, opened in February.",
        ),
        wrong=(
            Reply(
                {FAULT_CLASS: FaultClass.CLOCK_SKEW.value, TRIGGER: "chronyd on ar-2"},
                "ar-2's clock was stepped at 13:38, so certificates fail verification.",
                ("clock-step",),
            ),
            Reply(
                {FAULT_CLASS: FaultClass.BAD_DEPLOY.value, TRIGGER: "dep-7713"},
                "dep-7713 changed the estimate client's timeouts at 13:36.",
                ("fresh-deploy",),
            ),
            Reply(
                {FAULT_CLASS: expired, TRIGGER: "5b20aa17"},
                "The certificate that is running out is leaf 5b20aa17.",
                ("edge-leaf",),
            ),
            Reply(
                {FAULT_CLASS: FaultClass.CONFIG_DRIFT.value, TRIGGER: "mnt-0312"},
                "ar-2 missed the maintenance of 6 March and differs from its peers.",
            ),
        ),
    )
    case.subtask(
        "next",
        "To restore estimates for good: restart, reload, roll back, or ask for something new?",
        (REMEDIATION,),
        QuestionKind.CAUSAL,
        lexical=True,
        needs=("leaf-on-disk", "no-reload", "opened-once"),
        right=Reply(
            {REMEDIATION: RESTART_RESOLVER},
            "The renewed leaf is on disk until June; the daemon reads it only when it starts and cannot reload.",
        ),
        wrong=(
            Reply({REMEDIATION: RESTART_TAX}, "Breakers start closed after a restart.", ("breaker-advice",)),
            Reply(
                {REMEDIATION: NEW_LEAF}, "The certificate needs a successor from the CA.", ("ca-advice", "edge-leaf")
            ),
            Reply(
                {REMEDIATION: ROLL_BACK},
                "The release is young; roll it back first.",
                ("roll-back-advice", "fresh-deploy"),
            ),
            Reply({REMEDIATION: RESYNC}, "Clocks must agree again.", ("clock-step",)),
            Reply({REMEDIATION: "raise the estimate timeout in checkout"}, "Estimates need more time to arrive."),
        ),
    )


def _add_cache(case: CaseBuilder) -> None:
    case.cached(
        "cache-311",
        "culprit",
        "Which service behind tax-engine is failing the missing estimates?",
        {SERVICE: "address-resolver"},
        "Upstream geo of tax-engine, peer 10.42.7.18 only: address-resolver.",
        VERSION,
        1,
        (
            Quote(CHECKOUT, "locate: geo refused"),
            Quote(TAX, 'msg="locate refused" upstream=geo peer=10.42.7.18:8443'),
            Quote(UPSTREAMS, "service: address-resolver"),
        ),
        CacheValidity.VALID,
    )
    case.cached(
        "cache-294",
        "cause",
        "What class of fault lost the estimates on ar-2, and what set it off?",
        {FAULT_CLASS: FaultClass.CLOCK_SKEW.value, TRIGGER: "chronyd on ar-2"},
        "Short loss of estimates while chronyd stepped the clock of ar-2.",
        VERSION,
        49,
        (Quote(JOURNAL, "System clock wrong by 0.982211 seconds"),),
        CacheValidity.STALE,
    )
    case.cached(
        "cache-302",
        "next",
        "What should be done to restore the estimates?",
        {REMEDIATION: RESTART_TAX},
        "Restart tax-engine; its breakers start closed.",
        "shop-2025.w09",
        2,
        (Quote(RUNBOOK, "restart tax-engine: its breakers start closed"),),
        CacheValidity.WRONG_VERSION,
    )
    case.cached(
        "cache-287",
        "culprit",
        "Which service is at fault when tax estimates go missing?",
        {SERVICE: "places-db"},
        "places-db had lost its gazetteer index.",
        "shop-2025.w07",
        520,
        (Quote(RUNBOOK, "one at a time may be taken out"),),
        CacheValidity.WRONG_VERSION,
    )
