"""Living through a marathon's resets: note down before memory is lost, and read the notes again after."""

from __future__ import annotations

from TokenOptEnv.config import CHECKPOINT_CAP_TOKENS, SEARCH_HIT_CAP_TOKENS, YARDSTICK, Profile
from TokenOptEnv.models import ActionType, Finding, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.policies import desk
from TokenOptEnv.policies.submission import latest_findings
from TokenOptEnv.simulators import terms, tokens

_HEADER_TOKENS = 16
"""What a header over a restored note, or the name of a question in it, takes at most."""
_BRIDGING = (ActionType.RESTORE_CHECKPOINT, ActionType.WRITE_CHECKPOINT)


def bridge(observation: TokenOptEnvObservation) -> TokenOptEnvAction | None:
    """What the coming or past reset asks for, if anything. A refused try is not repeated."""
    last = observation.last_tool_result
    if last is not None and last.refusal is not None and last.action_type in _BRIDGING:
        return None
    return _restore(observation) or save(observation)


def is_last_phase(observation: TokenOptEnvObservation) -> bool:
    return observation.task.phase_ends_at_step is None


def wait(observation: TokenOptEnvObservation) -> TokenOptEnvAction:
    """Pass a step until the phase ends, as cheaply as a legal action can: drop what is idle, or look up one word."""
    if desk.room_tokens(observation) < SEARCH_HIT_CAP_TOKENS:
        cleared = desk.clear(observation)
        if cleared is not None:
            return cleared
    if observation.task.profile is Profile.V1:
        artifact = observation.artifacts[observation.step % len(observation.artifacts)]
        return TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id=artifact.artifact_id)
    words = terms.distinct(observation.task.brief)
    query = words[observation.step % len(words)]
    return TokenOptEnvAction(action_type=ActionType.SEARCH_ARTIFACTS, query=query, top_k=1)


def _restore(observation: TokenOptEnvObservation) -> TokenOptEnvAction | None:
    held = {finding.finding_id for finding in observation.findings}
    room = desk.room_tokens(observation)
    for checkpoint in observation.checkpoints:
        is_lost = checkpoint.phase < observation.task.phase and not held.issuperset(checkpoint.finding_ids)
        if is_lost and checkpoint.tokens + _HEADER_TOKENS <= room:
            return TokenOptEnvAction(action_type=ActionType.RESTORE_CHECKPOINT, checkpoint_id=checkpoint.checkpoint_id)
    return None


def save(observation: TokenOptEnvObservation) -> TokenOptEnvAction | None:
    """At the last step of a phase, what no note holds yet, as far as it fits."""
    ends_at_step = observation.task.phase_ends_at_step
    if ends_at_step is None or observation.step + 1 < ends_at_step:
        return None
    saved = {finding_id for checkpoint in observation.checkpoints for finding_id in checkpoint.finding_ids}
    kept = _fitting([each for each in latest_findings(observation) if each.finding_id not in saved])
    return TokenOptEnvAction(action_type=ActionType.WRITE_CHECKPOINT, finding_ids=kept) if kept else None


def hand_over(observation: TokenOptEnvObservation) -> TokenOptEnvAction | None:
    """End the phase now: one note that holds a finding for each of its questions. None while one is missing."""
    asked = [subtask.subtask_id for subtask in observation.task.subtasks]
    answers = [each for each in latest_findings(observation) if each.subtask_id in asked]
    can_write = any(legal.action_type is ActionType.WRITE_CHECKPOINT for legal in observation.legal_actions.actions)
    kept = _fitting(answers)
    if is_last_phase(observation) or not can_write or len(kept) < len(asked):
        return None
    return TokenOptEnvAction(action_type=ActionType.WRITE_CHECKPOINT, finding_ids=kept)


def _fitting(findings: list[Finding]) -> tuple[str, ...]:
    """As many as one note takes, in the order given."""
    room = CHECKPOINT_CAP_TOKENS
    kept: list[str] = []
    for finding in findings:
        size = _note_tokens(finding)
        if size <= room:
            kept.append(finding.finding_id)
            room -= size
    return tuple(kept)


def _note_tokens(finding: Finding) -> int:
    said = [finding.text, *finding.values, *finding.values.values()]
    return sum(tokens.count(YARDSTICK, text) for text in said) + 2 * len(finding.values) + _HEADER_TOKENS
