"""Retrieve, then ask: one search a question, a mid-tier model on the best hits, one retry where they do not suffice.

What most systems in production do. A small artifact among the hits is read whole: it is cheap, its other half may
hold the rest of the answer, and what is held needs no handle.
"""

from __future__ import annotations

from TokenOptEnv import questions
from TokenOptEnv.config import FINDING_CAP_TOKENS
from TokenOptEnv.models import ArtifactHandle, Effort, Subtask, TokenOptEnvObservation
from TokenOptEnv.policies import desk, errands, menu
from TokenOptEnv.policies.base import PolicyInfo
from TokenOptEnv.policies.script import Scripted, Steps

_TOP_K = 6
_SEGMENTS_WORTH_READING = 2
"""A small artifact of one segment gains nothing by being read: its only segment was hit, and can be handed over."""


class Rag(Scripted):
    def answer(self, observation: TokenOptEnvObservation, subtask: Subtask) -> Steps:
        observation = yield from errands.look_up(observation, questions.wording(observation, subtask), _TOP_K)
        hits = errands.found(observation)
        wanted = list(hits)
        artifact = _small_artifact(observation, hits)
        if artifact is not None:
            observation = yield from errands.read(observation, artifact)
            wanted += errands.segment_ids(artifact)
        observation = yield from self.forget(observation)
        if subtask not in questions.askable(observation, self.done):
            return observation
        model, share = menu.mid_tier(observation), self.share_nano_usd(observation)
        observation = yield from errands.ask(observation, subtask, model, Effort.MEDIUM, wanted, share)
        asked = errands.reply(observation, subtask)
        if asked is not None and asked.finding_id is None and self.spare_steps(observation) > 0:
            above = menu.stronger(observation, asked.model_id)
            if above:
                observation = yield from errands.ask_stronger(observation, asked, above[0], Effort.MEDIUM, share)
        is_last = questions.still_open(observation, self.done) <= 1
        return observation if is_last else (yield from self.tidy(observation))

    def forget(self, observation: TokenOptEnvObservation) -> Steps:
        """Between looking and asking; for those who hold less."""
        yield from ()
        return observation

    def tidy(self, observation: TokenOptEnvObservation) -> Steps:
        """Between two questions; for those who keep less."""
        yield from ()
        return observation


def _small_artifact(observation: TokenOptEnvObservation, hits: tuple[str, ...]) -> ArtifactHandle | None:
    """The first one hit that is worth reading whole and fits without dropping anything."""
    room = desk.room_tokens(observation) - FINDING_CAP_TOKENS
    for hit in hits:
        artifact = errands.artifact_of(observation, hit)
        if (
            artifact is not None
            and errands.is_small(artifact)
            and artifact.segments >= _SEGMENTS_WORTH_READING
            and not errands.is_held(observation, artifact)
            and errands.read_tokens(artifact) <= room
        ):
            return artifact
    return None


POLICY = PolicyInfo("rag", "one search a question, a mid-tier model on its hits, one retry by escalation", Rag)
