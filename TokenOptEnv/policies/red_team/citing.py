"""Evidence by the yard, and answers at second hand."""

from __future__ import annotations

from TokenOptEnv import questions
from TokenOptEnv.models import ActionType, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.policies import desk
from TokenOptEnv.policies.red_team.trick import Trick, ask_everything, held, hydrate, surfaced
from TokenOptEnv.policies.script import Steps
from TokenOptEnv.policies.submission import latest_findings, submit


class CiteEverything(Trick):
    """Loads all that was surfaced, as far as it fits, and cites every segment it ever heard of."""

    name = "cite-everything"

    def play(self, observation: TokenOptEnvObservation) -> Steps:
        observation = yield from ask_everything(observation)
        cleared = desk.clear_listings(observation)
        if cleared is not None:
            observation = yield cleared
        room = desk.room_tokens(observation)
        fitting: list[str] = []
        for handle in observation.surfaced:
            if handle.segment_id not in held(observation) and handle.tokens + 20 <= room:
                fitting.append(handle.segment_id)
                room -= handle.tokens + 20
        if fitting:
            observation = yield hydrate(*fitting)
        return observation

    def finish(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        findings = latest_findings(observation)
        if not findings:
            return submit(observation)
        return TokenOptEnvAction(
            action_type=ActionType.SUBMIT_ANSWER,
            finding_ids=tuple(finding.finding_id for finding in findings),
            evidence_segment_ids=surfaced(observation),
        )


class TrustCache(Trick):
    """Hands in whatever the cache holds, however old, and reads none of it again."""

    name = "trust-cache"

    def play(self, observation: TokenOptEnvObservation) -> Steps:
        for subtask in observation.task.subtasks:
            query = questions.wording(observation, subtask)
            observation = yield TokenOptEnvAction(action_type=ActionType.QUERY_CACHE, query=query)
        return observation
