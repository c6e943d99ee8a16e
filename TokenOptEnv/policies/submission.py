"""The last word of a policy that can tell findings apart by their age alone."""

from __future__ import annotations

from collections.abc import Collection

from TokenOptEnv.models import ActionType, Finding, TokenOptEnvAction, TokenOptEnvObservation

_NO_ANSWER = "unknown"


def latest_findings(observation: TokenOptEnvObservation, distrusted: Collection[str] = ()) -> tuple[Finding, ...]:
    """Of the findings held, the latest to each question, in the order the questions were first answered."""
    latest: dict[str, Finding] = {}
    for finding in observation.findings:
        if finding.finding_id not in distrusted:
            latest[finding.subtask_id] = finding
    return tuple(latest.values())


def submit(observation: TokenOptEnvObservation, distrusted: Collection[str] = ()) -> TokenOptEnvAction:
    """Answer with what was found; with nothing found, say so: an answer must fill a field to be accepted.

    `distrusted` are findings that are held but must not be built on, such as outdated results from the cache.
    """
    fields = [field.name for field in observation.task.answer_fields]
    findings = latest_findings(observation, distrusted)
    if any(name in finding.values for finding in findings for name in fields):
        return TokenOptEnvAction(
            action_type=ActionType.SUBMIT_ANSWER, finding_ids=tuple(finding.finding_id for finding in findings)
        )
    return TokenOptEnvAction(action_type=ActionType.SUBMIT_ANSWER, answer={fields[0]: _NO_ANSWER})


def is_last_chance(observation: TokenOptEnvObservation) -> bool:
    """Anything but a submission now would end the episode without an answer."""
    return observation.must_submit or observation.budgets.steps.left <= 1
