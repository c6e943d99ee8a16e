"""The end, in words: what was right, what each part of the return means, and what it cost beside the plan."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.rule import Rule
from rich.text import Text

from TokenOptEnv import rewards
from TokenOptEnv.by_hand.plain_text import plain
from TokenOptEnv.by_hand.wording import ENDED, GUARDRAILS, MILESTONES, TERMS, verdict
from TokenOptEnv.cli.play_board import grid, usd
from TokenOptEnv.grading import TRUTH_MILESTONES
from TokenOptEnv.guardrails import Guardrail
from TokenOptEnv.models import (
    Revealed,
    ScoreBreakdown,
    SubmitPayload,
    TokenOptEnvObservation,
)


def explained(last: TokenOptEnvObservation) -> Iterator[RenderableType]:
    score = last.score
    if score is None or last.end_reason is None:
        return
    yield ""
    yield Rule(Text("score"), align="left")
    verdict = "Solved" if score.success else "Not solved"
    yield Text(f"{verdict}: return {score.total_return:.3f}", style="bold green" if score.success else "bold red")
    yield f"{ENDED[last.end_reason]}, at step {last.step}."
    yield from _fields(last, score)
    yield from _cost(score)
    yield from _terms(score)
    yield from _milestones(last)
    yield from _guardrails(last)
    if last.revealed is not None:
        yield from _revealed(last.revealed)


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
