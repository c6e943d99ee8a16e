"""The end, in words: what was right, what each part of the return means, and what it cost beside the plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from rich.console import RenderableType
from rich.rule import Rule
from rich.text import Text

from TokenOptEnv import rewards
from TokenOptEnv.cli.play_board import grid, usd
from TokenOptEnv.cli.play_terminal import plain
from TokenOptEnv.grading import TRUTH_MILESTONES
from TokenOptEnv.guardrails import Guardrail
from TokenOptEnv.models import (
    EndReason,
    FieldScore,
    Revealed,
    ScoreBreakdown,
    SubmitPayload,
    TokenOptEnvObservation,
)


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
    "first-look": "opened an artifact",
    "evidence-held": "held evidence in memory",
    "first-finding": "a model's finding with citations",
    "every-field-found": "models found something for every field",
    "saved-before-reset": "saved findings before a reset",
    "no-decoy-cited": "cited nothing misleading",
    "stopped-when-right": "asked nothing again that was answered rightly",
    "no-fact-lost": "squeezed no needed line away",
}
_ENDED: Final = {
    EndReason.SUBMITTED: "An answer was given",
    EndReason.STEPS: "The steps ran out without an answer",
    EndReason.BUDGET: "The budget ran out without an answer",
}


def explained(last: TokenOptEnvObservation) -> Iterator[RenderableType]:
    score = last.score
    if score is None or last.end_reason is None:
        return
    yield ""
    yield Rule(Text("score"), align="left")
    verdict = "Solved" if score.success else "Not solved"
    yield Text(f"{verdict}: return {score.total_return:.3f}", style="bold green" if score.success else "bold red")
    yield f"{_ENDED[last.end_reason]}, at step {last.step}."
    yield from _fields(last, score)
    yield from _cost(score)
    yield from _terms(score)
    yield from _milestones(last)
    yield from _guardrails(last)
    if last.revealed is not None:
        yield from _revealed(last.revealed)


def verdict(field: FieldScore) -> str:
    """One field in words: right, backed by a finding, grounded in evidence that was read."""
    said = [
        "right" if field.right else "wrong",
        "backed" if field.backed else "no finding behind it",
        "grounded" if field.grounded else "evidence incomplete, or not read",
    ]
    return ", ".join(said)


def _fields(last: TokenOptEnvObservation, score: ScoreBreakdown) -> Iterator[RenderableType]:
    payload = last.last_tool_result.payload if last.last_tool_result is not None else None
    given = payload.answer if isinstance(payload, SubmitPayload) else {}
    listed = grid("left")
    for field in score.fields:
        good = field.right and field.backed and field.grounded
        listed.add_row(field.name, Text(verdict(field) if field.name in given else "not answered", _shade(good)))
        if field.name in given:
            listed.add_row("", Text(plain(given[field.name])))
    yield ""
    yield Text("Answer", style="bold")
    yield listed
    yield Text("Backed: a finding says so. Grounded: the evidence cited covers it, and was read here.", style="dim")


def _cost(score: ScoreBreakdown) -> Iterator[RenderableType]:
    yield ""
    yield Text("Cost", style="bold")
    yield f"Spent: {usd(score.cost_nano_usd, 5)}, of it {usd(score.routed_nano_usd, 5)} on models that were asked."
    beside = f"The reference plan, which knows where the facts are, takes {usd(score.reference_nano_usd, 5)}"
    if score.reference_nano_usd > 0:
        beside += f": this was {score.cost_nano_usd / score.reference_nano_usd:.2f} times that"
    yield f"{beside}."
    yield f"Success-weighted cost efficiency (SCE): {score.sce:.3f}."


def _terms(score: ScoreBreakdown) -> Iterator[RenderableType]:
    listed = grid("left", "right", "left")
    for term in score.terms:
        about = TERMS[term.term]
        most = f"of {about.most:.2f}" if about.most else ""
        listed.add_row(term.term.replace("_", " "), f"{term.value:+.3f}", most, about.means)
    listed.add_row("return", f"{score.total_return:+.3f}", "", "", style="bold")
    yield ""
    yield Text("Return", style="bold")
    yield listed


def _milestones(last: TokenOptEnvObservation) -> Iterator[RenderableType]:
    reached = last.milestones.achieved_ids
    listed = grid("left")
    for name in (*last.milestones.listed_ids, *TRUTH_MILESTONES):
        listed.add_row(Text("reached" if name in reached else "missed", _shade(name in reached)), MILESTONES[name])
    yield ""
    yield Text("Milestones", style="bold")
    yield listed


def _guardrails(last: TokenOptEnvObservation) -> Iterator[RenderableType]:
    yield ""
    yield Text("Guardrails", style="bold")
    if not last.guardrail_events:
        yield "None was touched."
        return
    listed = grid("left", "right")
    for event in last.guardrail_events:
        which = Guardrail(event.guardrail_id)
        told = f"{GUARDRAILS[which]} ({event.message})"
        listed.add_row(f"step {event.step}", f"-{rewards.PENALTIES[which]:.2f}", plain(told))
    yield listed


def _revealed(revealed: Revealed) -> Iterator[RenderableType]:
    yield ""
    yield Rule(Text("truth"), align="left")
    answer = grid("left")
    for name, value in revealed.answer.items():
        answer.add_row(name, Text(plain(value), style="bold"))
    yield answer
    yield Text(f"shown by {', '.join(revealed.evidence_segment_ids)}")
    yield ""
    yield Text("The reference plan", style="bold")
    plan = grid("right")
    for number, line in enumerate(revealed.reference_plan, start=1):
        plan.add_row(str(number), plain(line))
    yield plan


def _shade(good: bool) -> str:
    return "green" if good else "red"
