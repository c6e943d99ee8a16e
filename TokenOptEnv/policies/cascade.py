"""A cascade: the cheapest model first, a stronger one while the last reply is not believed.

A reply is believed when it is stated with confidence or says what the model before it said (FrugalGPT decides
the same way, with a scorer of its own). The strongest model is believed whatever it says.
"""

from __future__ import annotations

from TokenOptEnv import questions
from TokenOptEnv.models import Effort, RoutePayload, Subtask, TokenOptEnvObservation
from TokenOptEnv.policies import errands, menu
from TokenOptEnv.policies.base import PolicyInfo
from TokenOptEnv.policies.cheapest import cheapest_model
from TokenOptEnv.policies.script import Scripted, Steps

_TOP_K = 4
_BELIEVED_CONFIDENCE = 0.85
"""Stated, and models state too much: a weaker one is believed only when it is very sure."""


class Cascade(Scripted):
    def answer(self, observation: TokenOptEnvObservation, subtask: Subtask) -> Steps:
        observation = yield from errands.look_up(observation, questions.wording(observation, subtask), _TOP_K)
        hits = errands.found(observation)
        share = self.share_nano_usd(observation)
        model = cheapest_model(observation)
        observation = yield from errands.ask(observation, subtask, model, Effort.MEDIUM, hits, share)
        before: RoutePayload | None = None
        latest = errands.reply(observation, subtask)
        while latest is not None and not _is_believed(latest, before) and self.spare_steps(observation) > 0:
            above = menu.stronger(observation, latest.model_id)
            if not above:
                break
            left = share - _spent(observation, subtask)
            observation = yield from errands.ask_stronger(observation, latest, above[0], Effort.MEDIUM, left)
            before, latest = latest, errands.reply(observation, subtask)
            if latest is None or latest.route_id == before.route_id:
                break
        return observation


def _is_believed(latest: RoutePayload, before: RoutePayload | None) -> bool:
    if latest.finding_id is None:
        return False
    return latest.confidence >= _BELIEVED_CONFIDENCE or (before is not None and before.values == latest.values)


def _spent(observation: TokenOptEnvObservation, subtask: Subtask) -> int:
    return sum(each.nano_usd for each in observation.routing.routes if each.subtask_id == subtask.subtask_id)


POLICY = PolicyInfo("cascade", "the cheapest model first, a stronger one while the reply is not believed", Cascade)
