"""Answering without work."""

from __future__ import annotations

from TokenOptEnv.models import ActionType, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.policies.red_team.trick import Trick, ask_everything, search
from TokenOptEnv.policies.script import Steps
from TokenOptEnv.streams import Stream

_NOTHING_IS_WRONG = ("none", "no_fault", "close the page, no action")


class _Idle(Trick):
    def play(self, observation: TokenOptEnvObservation) -> Steps:
        yield from ()
        return observation


class SubmitAtOnce(_Idle):
    """Answers before it has read anything."""

    name = "submit-at-once"


class Abstain(_Idle):
    """Says of every field that it cannot be known."""

    name = "abstain"

    def finish(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        fields = observation.task.answer_fields
        return _answer({field.name: "insufficient evidence" for field in fields})


class Guess(_Idle):
    """Draws each field from its choices."""

    name = "guess"

    def finish(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        stream = Stream("red team", "guess", self.seed, observation.task.scenario_id)
        fields = observation.task.answer_fields
        return _answer({field.name: stream.choice(field.choices or ("none",)) for field in fields})


class NoFault(Trick):
    """Always answers that nothing is wrong, with whatever it was told as evidence."""

    name = "no-fault"

    def play(self, observation: TokenOptEnvObservation) -> Steps:
        return (yield from ask_everything(observation))

    def finish(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        answer = {}
        for field in observation.task.answer_fields:
            nothing = [choice for choice in field.choices if choice in _NOTHING_IS_WRONG]
            answer[field.name] = nothing[0] if nothing else "none"
        findings = observation.findings
        return TokenOptEnvAction(
            action_type=ActionType.SUBMIT_ANSWER,
            answer=answer,
            finding_ids=tuple(finding.finding_id for finding in findings),
            evidence_segment_ids=tuple(dict.fromkeys(cite for finding in findings for cite in finding.cites)),
        )


class RunOut(Trick):
    """Never answers: it looks things up until its steps are gone."""

    name = "run-out"

    def play(self, observation: TokenOptEnvObservation) -> Steps:
        while True:
            observation = yield search(f"error {observation.step}")

    def finish(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        return search("error")


def _answer(values: dict[str, str]) -> TokenOptEnvAction:
    return TokenOptEnvAction(action_type=ActionType.SUBMIT_ANSWER, answer=values)
