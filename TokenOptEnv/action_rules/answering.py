"""May this be submitted? SUBMIT_ANSWER is always possible; its ids and fields must exist.

An answer that says what a held finding says is backed by that finding, named or not.
"""

from __future__ import annotations

from TokenOptEnv.action_rules.refusals import missing, refuse
from TokenOptEnv.config import TEXT_CAP_CHARACTERS, Track
from TokenOptEnv.episode_state import EpisodeState
from TokenOptEnv.models import FieldKind, Finding, Refusal, RefusalReason, TokenOptEnvAction
from TokenOptEnv.moves import Submit
from TokenOptEnv.world import VisibleWorld


def submit(state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld) -> Submit | Refusal:
    held = {finding.finding_id: finding for finding in state.held_findings}
    findings: list[Finding] = []
    for finding_id in dict.fromkeys(action.finding_ids):
        if finding_id not in held:
            return refuse(RefusalReason.NOT_IN_MEMORY, "finding_ids", finding_id, "name findings held in memory")
        findings.append(held[finding_id])
    if not findings and not action.answer:
        return missing("finding_ids", "name the findings to answer with, or give an answer")
    fields = {field.name: field for field in visible.public.answer_fields}
    answer: dict[str, str] = {}
    for finding in findings:
        answer.update({name: value for name, value in finding.values.items() if name in fields})
    for name, value in (action.answer or {}).items():
        if name not in fields:
            return refuse(RefusalReason.UNKNOWN_ID, "answer", name, f"fields are: {', '.join(fields)}")
        if len(value) > TEXT_CAP_CHARACTERS:
            return refuse(RefusalReason.TOO_LONG, f"answer.{name}", value, f"at most {TEXT_CAP_CHARACTERS} characters")
        backing = [finding for finding in held.values() if finding.values.get(name) == value]
        if backing and not any(finding in findings for finding in backing):
            findings.append(backing[-1])
        if fields[name].kind is FieldKind.PATCH and not backing and _cannot_be_run(visible):
            return refuse(
                RefusalReason.SANDBOX_UNAVAILABLE, f"answer.{name}", value, "submit the patch of a finding instead"
            )
        answer[name] = value
    if not answer:
        return refuse(
            RefusalReason.EMPTY_ANSWER, "finding_ids", " ".join(action.finding_ids), "none of them fills a field"
        )
    cited = dict.fromkeys(cite for finding in findings for cite in finding.cites)
    if action.evidence_segment_ids:
        known = {cite for finding in held.values() for cite in finding.cites}
        for segment_id in action.evidence_segment_ids:
            if segment_id not in state.surfaced and segment_id not in state.read_ids and segment_id not in known:
                return refuse(
                    RefusalReason.NOT_SURFACED, "evidence_segment_ids", segment_id, "cite segments you were shown"
                )
        cited = dict.fromkeys(action.evidence_segment_ids)
    return Submit(answer, tuple(findings), tuple(cited))


def _cannot_be_run(visible: VisibleWorld) -> bool:
    """In the controller track an own patch is taken like any answer that nothing backs, and worth as little."""
    return visible.config.track is Track.SOLVER and not visible.takes_own_patches
