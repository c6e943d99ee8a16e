"""No routing at all: each question goes to the strongest model, once, with the best four hits of one search."""

from __future__ import annotations

from TokenOptEnv import questions
from TokenOptEnv.models import Effort, Subtask, TokenOptEnvObservation
from TokenOptEnv.policies import errands, menu
from TokenOptEnv.policies.base import PolicyInfo
from TokenOptEnv.policies.script import Scripted, Steps

_TOP_K = 4


class StrongestOnly(Scripted):
    def answer(self, observation: TokenOptEnvObservation, subtask: Subtask) -> Steps:
        observation = yield from errands.look_up(observation, questions.wording(observation, subtask), _TOP_K)
        hits = errands.found(observation)
        share = self.share_nano_usd(observation)
        return (yield from errands.ask(observation, subtask, menu.strongest(observation), Effort.MEDIUM, hits, share))


POLICY = PolicyInfo("strongest-only", "one search a question, then the strongest model on its four hits", StrongestOnly)
"""The other end from `cheapest`: what the best model alone buys, and what it costs."""
