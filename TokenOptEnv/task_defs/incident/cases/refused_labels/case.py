"""The refused-labels case: facts, decoys, questions and earlier results on top of what its run left behind."""

from __future__ import annotations

from typing import Final

from TokenOptEnv.config import Difficulty
from TokenOptEnv.models import ArtifactKind, Slot
from TokenOptEnv.scenario import CacheValidity, QuestionKind, Scenario
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply
from TokenOptEnv.task_defs.incident.cases.refused_labels import caller_logs, cast, gate_logs, papers, platform_logs
from TokenOptEnv.task_defs.incident.cases.refused_labels.traffic import traffic
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

SCENARIO_ID: Final = cast.SCENARIO_ID

TICKET: Final = "ticket-2207"
CHAT: Final = "chat-inc-2207"
EDGE: Final = "log-edge-eu2"
DESK: Final = "log-desk-api"
GATES: Final = {audience: f"log-{audience}" for audience in cast.AUDIENCES}
MINT: Final = "log-mint-hosts"
DRAIN: Final = "log-drain-hv12"
JOURNAL: Final = "journal-mint-3"
COUNTS: Final = "metrics-mint-hosts"
GATE_SETTINGS: Final = "config-tokens"
TIME_SETTINGS: Final = "config-guests"
ROTATIONS: Final = "rotations-vault"
DEPLOYS: Final = "deploys-eu2"
RUNBOOK: Final = "runbook-tokens"

SHARED: Final = "shared_by_all"

STEP: Final = "step the clock of mint-3"
UNDO: Final = "undo the key rotation"
ROLL_BACK: Final = "roll back customs"
RESTART: Final = "restart the token-mint process"
LONGER: Final = "raise the token lifetime"
MOVE_BACK: Final = "move the guest back to its old host"
FOURTH: Final = "add a fourth mint host"

_STALLED = next(move for move in platform_logs.MOVES if move.move_id == cast.MOVE)
_CUSTOMS_MOVED = next(move for move in platform_logs.MOVES if move.move_id == cast.CUSTOMS_MOVE)
_BRIEF = tuple(move for move in platform_logs.MOVES if move.downtime_ms < 1_000)


def build() -> Scenario:
    case = CaseBuilder(
        scenario_id=SCENARIO_ID,
        family="incident",
        difficulty=Difficulty.HARD,
        title="Label orders fail one time in ten",
        brief=(
            "Since 09:42 UTC on 2025-09-16 about a tenth of label, declaration and pickup orders in cell eu-2 fail, "
            "and a second try mostly works. Services refuse tokens their callers got a moment ago. It is 11:40 now "
            "and still going on. Say which service is at fault, the class of fault, the id of what set it off, and "
            "what to do next."
        ),
        version=cast.VERSION,
    )
    _add_artifacts(case)
    _add_facts(case)
    _add_decoys(case)
    _add_questions(case)
    _add_cache(case)
    return case.build()


def _add_artifacts(case: CaseBuilder) -> None:
    case.artifact(TICKET, ArtifactKind.TICKET, "INC-2207: label orders fail", papers.ticket_page())
    case.artifact(CHAT, ArtifactKind.CHAT, "#inc-2207", papers.channel())
    case.artifact(EDGE, ArtifactKind.LOG, "edge access log of eu-2, 09:30 to 10:21, sampled", caller_logs.edge_log())
    case.artifact(DESK, ArtifactKind.LOG, "desk-api, both instances, 09:24 to 10:21, sampled", caller_logs.desk_log())
    for audience, writer in (
        (cast.LABELS, gate_logs.labels_log),
        (cast.CUSTOMS, gate_logs.customs_log),
        (cast.PICKUP, gate_logs.pickup_log),
    ):
        title = f"{audience}, 09:24 to 10:21, refusals: one in 5 min in full"
        case.artifact(GATES[audience], ArtifactKind.LOG, title, writer())
    case.artifact(MINT, ArtifactKind.LOG, "mint hosts as collected, 09:24 to 10:21, sampled", platform_logs.mint_log())
    case.artifact(COUNTS, ArtifactKind.METRICS, "mint hosts and refusals by 2 minutes", papers.counts())
    case.artifact(DRAIN, ArtifactKind.LOG, "platform: drain of hypervisor hv-12", platform_logs.drain_log())
    case.artifact(JOURNAL, ArtifactKind.LOG, "journal read on mint-3, 80 minutes", platform_logs.late_journal())
    case.artifact(GATE_SETTINGS, ArtifactKind.CONFIG, "token settings as rendered", papers.GATE_SETTINGS)
    case.artifact(TIME_SETTINGS, ArtifactKind.CONFIG, "chrony.conf of the guests", papers.TIME_SETTINGS)
    case.artifact(ROTATIONS, ArtifactKind.HISTORY, "key-vault rotations since August", papers.rotations())
    case.artifact(DEPLOYS, ArtifactKind.HISTORY, "deploys of eu-2, 3 to 16 September", papers.deploys())
    case.artifact(RUNBOOK, ArtifactKind.RUNBOOK, "service tokens: what to do", papers.runbook_page())


def refusal_facts() -> dict[str, Quote]:
    """By fact: one refusal that a gate wrote out."""
    return {
        f"{audience}-refusal-{number}": Quote(GATES[audience], gate_logs.refusal_span(use))
        for audience in cast.AUDIENCES
        for number, use in enumerate(traffic().told_refusals(audience), 1)
    }


def _add_facts(case: CaseBuilder) -> None:
    for fact_id, quote in refusal_facts().items():
        case.fact(fact_id, "a fresh token refused, with its caller, key and minting host", quote)
    case.fact(
        "rewritten",
        "lines of mint-3 reach the collector 94 s after they were stamped",
        *(Quote(MINT, platform_logs.note_span(at_ms)) for at_ms in platform_logs.note_times_ms()),
    )
    case.fact(
        "offset",
        "the time of mint-3 is 94 s behind, that of the others is right",
        *(Quote(COUNTS, cell) for cell in papers.late_offset_cells()),
    )
    case.fact("lifetime", "lifetime and leeway together are shorter than that", Quote(GATE_SETTINGS, "lifetime_s: 60"))
    case.fact(
        "new-key-fine",
        "the new key passes everywhere when another host signs with it",
        Quote(ROTATIONS, "200 of 200 tokens of mint-1 under k-31 admitted"),
    )
    case.fact(
        "stood-still", "mint-3 stood still for 94 s while it moved", Quote(DRAIN, platform_logs.move_span(_STALLED))
    )
    case.fact(
        "others-brief",
        "other guests of that drain lost a third of a second",
        *(Quote(DRAIN, platform_logs.move_span(move)) for move in _BRIEF),
    )
    case.fact("felt", "the time daemon of mint-3 saw the same 94 s", Quote(JOURNAL, platform_logs.FELT))
    case.fact("no-step", "the time daemon steps only right after its start", Quote(TIME_SETTINGS, "makestep 1.0 3"))
    case.fact("slow-slew", "left alone, the clock needs two days", Quote(TIME_SETTINGS, "maxslewrate 500"))
    case.fact("step-borne", "the mint bears a step", Quote(RUNBOOK, "The mint bears a step of any size"))
    case.fact("restarted", "a restarted process is refused as before", Quote(CHAT, "first refusal 8 s later"))


def _add_decoys(case: CaseBuilder) -> None:
    case.decoy(
        "rotation",
        "a key rotation that began eight minutes before",
        Quote(ROTATIONS, "k-31 published 09:30"),
        Quote(CHAT, "rot-0916, mint-1 signs with k-31 since 09:34"),
        Quote(CHAT, "share of k-31: all ten"),
    )
    case.decoy(
        "fresh-deploy",
        "a customs deploy that ended two minutes before",
        Quote(DEPLOYS, "token checks rewritten on tokenlib 4.2"),
        Quote(TICKET, "an order that customs touched"),
        Quote(GATES[cast.CUSTOMS], f"build 38.2 starting, {cast.DEPLOY}"),
    )
    case.decoy(
        "outworn",
        "tokens that really were too old, as on any day",
        *(Quote(GATES[audience], gate_logs.refusal_span(use)) for audience, use in gate_logs.OUTWORN.items()),
    )
    case.decoy(
        "busy-mint",
        "an alert that has come and gone since Sunday",
        Quote(TICKET, "MintCpuHigh mint-1"),
        Quote(CHAT, "mint-1 cpu is red again"),
    )
    case.decoy(
        "vault-leaf",
        "another certificate runs out next week",
        Quote(TICKET, "certificate of key-vault runs out in 9 days"),
        Quote(MINT, "cert_days_left=9"),
    )
    case.decoy(
        "customs-moved",
        "a guest of customs moved too, and lost two seconds",
        Quote(DRAIN, platform_logs.move_span(_CUSTOMS_MOVED)),
    )
    case.decoy("restart-advice", "the runbook's first advice", Quote(RUNBOOK, "restart the token-mint process"))
    case.decoy("lifetime-advice", "the runbook's second advice", Quote(RUNBOOK, "a longer lifetime_s helps"))
    case.decoy("undo-advice", "the runbook on keys", Quote(RUNBOOK, "`vault rotate --undo <id>`"))
    case.decoy("swap", "the host was emptied for a board swap", Quote(CHAT, "the board swap on hv-12 was invisible"))


def _add_questions(case: CaseBuilder) -> None:
    skew = FaultClass.CLOCK_SKEW.value
    ask_for_diagnosis(
        case,
        Diagnosis(
            service=Conclusion(("token-mint",), ("rewritten",)),
            fault_class=Conclusion((skew,), ("offset", "lifetime")),
            trigger=Conclusion((cast.MOVE, cast.MOVE.removeprefix("mig-")), ("stood-still",)),
            remediation=Conclusion((STEP,), ("slow-slew", "step-borne")),
        ),
        services=(
            "customs",
            "desk-api",
            "edge-gateway",
            "key-vault",
            "labels",
            "pickup",
            "tariff-db",
            "token-mint",
        ),
        remediations=(FOURTH, LONGER, MOVE_BACK, RESTART, ROLL_BACK, STEP, UNDO),
    )
    _ask_what_they_share(case)
    _ask_for_the_fault(case, skew)
    _ask_for_the_trigger(case)
    _ask_for_the_repair(case)


def _ask_what_they_share(case: CaseBuilder) -> None:
    case.subtask(
        "common",
        "Take all fresh refusals together, whatever caller, key or gate: which one thing do they share?",
        (SHARED,),
        QuestionKind.CAUSAL,
        lexical=False,
        needs=tuple(refusal_facts()),
        right=Reply(
            {SHARED: cast.LATE_MINT},
            "Five callers, three gates, both keys: but each refused fresh token was minted on mint-3.",
        ),
        wrong=(
            Reply({SHARED: cast.NEW_KEY}, "They carry the new key k-31.", ("rotation",)),
            Reply({SHARED: "customs"}, "Customs and its new token checks stand behind them.", ("fresh-deploy",)),
            Reply({SHARED: "mint-1"}, "They were minted on mint-1.", ("outworn", "busy-mint")),
            Reply({SHARED: "batch-1"}, "They come from batch-1, which reuses tokens for too long."),
        ),
    )


def _ask_for_the_fault(case: CaseBuilder, skew: str) -> None:
    case.subtask(
        "fault",
        "Why do tokens signed on {shared_by_all} fail the checks: which service is at fault, and what class?",
        (SERVICE, FAULT_CLASS),
        QuestionKind.CAUSAL,
        lexical=False,
        needs=("rewritten", "offset", "lifetime", "new-key-fine"),
        right=Reply(
            {SERVICE: "token-mint", FAULT_CLASS: skew},
            "Its time is 94 s behind, and tokens live 60 s with 30 s of leeway: they end before they are shown.",
        ),
        wrong=(
            Reply(
                {SERVICE: "token-mint", FAULT_CLASS: FaultClass.CONFIG_DRIFT.value},
                "Its signing key differs from what the gates know since the rotation.",
                ("rotation",),
            ),
            Reply(
                {SERVICE: "customs", FAULT_CLASS: FaultClass.BAD_DEPLOY.value},
                "The rewritten token checks of customs are too strict.",
                ("fresh-deploy",),
            ),
            Reply(
                {SERVICE: "token-mint", FAULT_CLASS: FaultClass.POOL_EXHAUSTION.value},
                "The mint is short of processors, and tokens age while they wait to be signed.",
                ("busy-mint",),
            ),
            Reply(
                {SERVICE: "key-vault", FAULT_CLASS: FaultClass.EXPIRED_CERTIFICATE.value},
                "The vault's certificate runs out and signing keys are stale.",
                ("vault-leaf",),
            ),
            Reply(
                {SERVICE: "desk-api", FAULT_CLASS: FaultClass.CACHE_STAMPEDE.value},
                "Callers keep tokens too long and renew them all at once.",
            ),
        ),
        slot=Slot(name=SHARED, from_subtask_id="common"),
        slot_value=cast.LATE_MINT,
    )


def _ask_for_the_trigger(case: CaseBuilder) -> None:
    case.subtask(
        "trigger",
        "Which event, by its id, put {shared_by_all} into that state: a guest that moved, a rotation, a deploy?",
        (TRIGGER,),
        QuestionKind.CAUSAL,
        lexical=False,
        needs=("stood-still", "others-brief", "felt"),
        right=Reply(
            {TRIGGER: cast.MOVE},
            "Move mig-40178 held mint-3 for 94212 ms, the very offset its time daemon saw; others lost 0.3 s.",
        ),
        wrong=(
            Reply({TRIGGER: cast.ROTATION}, "Rotation rot-0916 gave it the new key.", ("rotation",)),
            Reply({TRIGGER: cast.DEPLOY}, "Deploy dep-6120 rewrote the token checks.", ("fresh-deploy",)),
            Reply({TRIGGER: cast.CUSTOMS_MOVE}, "Move mig-40171 was the rough one of that drain.", ("customs-moved",)),
            Reply({TRIGGER: "dep-6108"}, "The mint's own last deploy, dep-6108, changed how it signs."),
        ),
        slot=Slot(name=SHARED, from_subtask_id="common"),
        slot_value=cast.LATE_MINT,
    )


def _ask_for_the_repair(case: CaseBuilder) -> None:
    case.subtask(
        "repair",
        "What ends refusals at once and for good: restart the process, a longer lifetime_s, makestep, or wait for "
        "maxslewrate?",
        (REMEDIATION,),
        QuestionKind.CAUSAL,
        lexical=True,
        needs=("no-step", "slow-slew", "step-borne", "restarted"),
        right=Reply(
            {REMEDIATION: STEP},
            "At 500 ppm the daemon needs two days and it may no longer step by itself; a step by hand is borne. "
            "Restarts did nothing.",
        ),
        wrong=(
            Reply({REMEDIATION: RESTART}, "Restart the process on the host that signs.", ("restart-advice",)),
            Reply({REMEDIATION: LONGER}, "Tokens end too soon; let them live longer.", ("lifetime-advice",)),
            Reply({REMEDIATION: UNDO}, "Bring the old key back within a minute.", ("undo-advice", "rotation")),
            Reply({REMEDIATION: ROLL_BACK}, "Undo the new token checks.", ("fresh-deploy",)),
            Reply({REMEDIATION: MOVE_BACK}, "The guest was well on its old host.", ("swap",)),
            Reply({REMEDIATION: FOURTH}, "Three hosts cannot sign fast enough."),
        ),
    )


def _add_cache(case: CaseBuilder) -> None:
    case.cached(
        "cache-7733",
        "trigger",
        "Which event put mint-3 into the state that fresh tokens are refused for?",
        {TRIGGER: cast.MOVE},
        "mig-40178 held the guest for 94212 ms.",
        cast.VERSION,
        1,
        (
            Quote(DRAIN, platform_logs.move_span(_STALLED)),
            Quote(DRAIN, platform_logs.move_span(_BRIEF[0])),
            Quote(JOURNAL, platform_logs.FELT),
        ),
        CacheValidity.VALID,
    )
    case.cached(
        "cache-7690",
        "repair",
        "What ends refusals of tokens at once?",
        {REMEDIATION: RESTART},
        "Restarting the process on the host that signs was enough.",
        cast.VERSION,
        73,
        (Quote(RUNBOOK, "restart the token-mint process"),),
        CacheValidity.STALE,
    )
    case.cached(
        "cache-7641",
        "trigger",
        "Which event, a rotation or a deploy, made gates refuse fresh tokens?",
        {TRIGGER: cast.DEPLOY},
        "The build with tokenlib 4.2 refused what 4.1 let pass.",
        "parcels-2025.38-rc2",
        2,
        (Quote(DEPLOYS, "token checks rewritten on tokenlib 4.2"),),
        CacheValidity.WRONG_VERSION,
    )
    case.cached(
        "cache-7312",
        "common",
        "Which one thing do all refusals share, whatever the caller?",
        {SHARED: "mint-1"},
        "All came from mint-1, which signed with a key nobody knew.",
        "parcels-2025.31",
        1180,
        (Quote(MINT, "cert_days_left=9"),),
        CacheValidity.WRONG_VERSION,
    )
