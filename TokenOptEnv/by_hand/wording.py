"""The names of the rules in words: terms of the return, guardrails, milestones, ends."""

from __future__ import annotations

from typing import Final, NamedTuple

from TokenOptEnv import rewards
from TokenOptEnv.guardrails import Guardrail
from TokenOptEnv.models import EndReason, FieldScore


class Term(NamedTuple):
    most: float
    means: str


TERMS: Final = {
    "success": Term(rewards.SUCCESS, "every field right, backed and grounded"),
    "partial": Term(rewards.PARTIAL, "without success: the share of fields that are"),
    "efficiency": Term(rewards.EFFICIENCY, "on success: all at the plan's cost, nothing at ten times it"),
    "routing": Term(rewards.ROUTING, "on success: the same, over what models were paid"),
    "evidence_precision": Term(rewards.PRECISION, "on success: the share of cited segments that show a needed fact"),
    "truth_milestones": Term(rewards.TRUTH, "on success: the milestones that only the truth can tell"),
    "process_milestones": Term(rewards.PROCESS, "the milestones on the way"),
    "guardrails": Term(0.0, f"deductions, at most {rewards.GUARDRAIL_CAP:g} in all"),
}
GUARDRAILS: Final = {
    Guardrail.REPEATED_READ: "asked for the same again",
    Guardrail.THRASH: "loaded again what had been dropped",
    Guardrail.HOARDING: "kept memory nearly full",
    Guardrail.CHECKPOINT_SPAM: "wrote note after note",
    Guardrail.INVALID_ACTION: "an action was refused",
    Guardrail.UNGROUNDED_SUBMIT: "answered without a finding or evidence behind it",
    Guardrail.BUDGET_OVERRUN: "overran a budget",
    Guardrail.BLIND_COMPRESSION: "squeezed a needed line away",
    Guardrail.NEEDLESS_ESCALATION: "asked a stronger model what was answered rightly",
    Guardrail.STALE_CACHE_TRUST: "rested on an outdated earlier result",
}
MILESTONES: Final = {
    "first-look": "saw segments",
    "evidence-held": "had evidence read",
    "first-finding": "a model's finding with citations",
    "every-field-found": "models found something for every field",
    "saved-before-reset": "saved findings before a reset",
    "no-decoy-cited": "cited nothing misleading",
    "stopped-when-right": "asked nothing again that was answered rightly",
    "no-fact-lost": "squeezed no needed line away",
}
ENDED: Final = {
    EndReason.SUBMITTED: "An answer was given",
    EndReason.STEPS: "The steps ran out without an answer",
    EndReason.BUDGET: "The budget ran out without an answer",
}


def verdict(field: FieldScore) -> str:
    """One field in words: right, backed by a finding, grounded in evidence that was read."""
    said = [
        "right" if field.right else "wrong",
        "backed" if field.backed else "no finding behind it",
        "grounded" if field.grounded else "evidence incomplete, or not read",
    ]
    return ", ".join(said)
