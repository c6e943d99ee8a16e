"""Grep and tail: the loud lines and the ends of the loudest logs, once, and every question asked on those.

The reduction that real CI diagnosis does best with for its price. It never looks at the questions, so a phase's
evidence is the same for all of them, and a model that is asked again has most of its prompt in its cache.
"""

from __future__ import annotations

from collections import Counter

from TokenOptEnv import questions
from TokenOptEnv.config import FINDING_CAP_TOKENS, PREVIEW_PAGE_SEGMENTS, Profile
from TokenOptEnv.models import ArtifactHandle, ArtifactKind, Effort, Subtask, TokenOptEnvObservation
from TokenOptEnv.policies import errands, menu
from TokenOptEnv.policies.base import PolicyInfo
from TokenOptEnv.policies.script import Scripted, Steps
from TokenOptEnv.policies.symptoms import LOUD_WORDS

_TOP_K = 8
_LOGS = 2
_TAIL_SEGMENTS = 2
"""Of each log."""
_STEPS_FOR_A_TAIL = 3
"""Make room, load, and ask."""
_LOG_KINDS = (ArtifactKind.LOG, ArtifactKind.TEST_REPORT)


class GrepTail(Scripted):
    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._evidence: list[str] = []

    def prepare(self, observation: TokenOptEnvObservation) -> Steps:
        observation = yield from errands.look_up(observation, LOUD_WORDS, _TOP_K)
        hits = errands.found(observation)
        tails: list[str] = []
        for log in _loudest(observation, hits):
            if self.spare_steps(observation) < _STEPS_FOR_A_TAIL:
                break
            observation = yield from errands.read(observation, log, _last_page(log))
            tails += errands.segment_ids(log)[-_TAIL_SEGMENTS:]
        self._evidence = [*tails, *hits]
        if self.spare_steps(observation) < _STEPS_FOR_A_TAIL:
            return observation
        spare_tokens = FINDING_CAP_TOKENS * (1 + questions.still_open(observation, self.done))
        observation = yield from errands.make_room(observation, spare_tokens + sum(_sizes(observation, tails)))
        return (yield from errands.load(observation, tails, spare_tokens))

    def answer(self, observation: TokenOptEnvObservation, subtask: Subtask) -> Steps:
        share = self.share_nano_usd(observation)
        model = menu.mid_tier(observation)
        return (yield from errands.ask(observation, subtask, model, Effort.MEDIUM, self._evidence, share))


def _loudest(observation: TokenOptEnvObservation, hits: tuple[str, ...]) -> list[ArtifactHandle]:
    """Logs by how many hits lie in them; in profile v1, which opened one artifact only, simply the first ones."""
    counts = Counter(hit.rpartition("-s")[0] for hit in hits)
    logs = [artifact for artifact in observation.artifacts if artifact.kind in _LOG_KINDS]
    if observation.task.profile is not Profile.V1:
        logs = [log for log in logs if counts[log.artifact_id]]
    return sorted(logs, key=lambda log: (-counts[log.artifact_id], log.alias))[:_LOGS]


def _last_page(artifact: ArtifactHandle) -> int:
    return 1 if errands.is_small(artifact) else -(-artifact.segments // PREVIEW_PAGE_SEGMENTS)


def _sizes(observation: TokenOptEnvObservation, names: list[str]) -> list[int]:
    held = errands.held_ids(observation)
    sizes = {handle.segment_id: handle.tokens + errands.HEADER_TOKENS for handle in observation.surfaced}
    return [sizes.get(name, 0) for name in names if name not in held]


POLICY = PolicyInfo("grep-tail", "the loud lines and the ends of the loudest logs, to a mid-tier model", GrepTail)
