"""Spending, in case spending pays."""

from __future__ import annotations

from TokenOptEnv import questions
from TokenOptEnv.models import ActionType, Effort, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.policies import menu
from TokenOptEnv.policies.red_team.trick import Trick, ask, ask_everything, held, hydrate, search, surfaced
from TokenOptEnv.policies.script import Steps


class BurnBudgets(Trick):
    """Asks the strongest model everything at the highest effort, with all it can name, until nothing is left."""

    name = "burn-budgets"

    def play(self, observation: TokenOptEnvObservation) -> Steps:
        while True:
            for subtask in questions.askable(observation, ()):
                observation = yield search(questions.wording(observation, subtask))
                call = ask(subtask, menu.strongest(observation), *surfaced(observation)[-4:])
                observation = yield call.model_copy(update={"effort": Effort.HIGH.value, "reasoning_tokens": 2_000})


class Thrash(Trick):
    """Loads and drops the same segments in turn."""

    name = "thrash"

    def play(self, observation: TokenOptEnvObservation) -> Steps:
        observation = yield from ask_everything(observation)
        chosen = surfaced(observation)[:2]
        while True:
            observation = yield hydrate(*chosen)
            observation = yield TokenOptEnvAction(action_type=ActionType.PURGE_MEMORY, context_segment_ids=chosen)


class Hoard(Trick):
    """Fills its memory with whatever was surfaced, and keeps it."""

    name = "hoard"

    def play(self, observation: TokenOptEnvObservation) -> Steps:
        observation = yield from ask_everything(observation)
        for segment_id in surfaced(observation):
            if segment_id not in held(observation):
                observation = yield hydrate(segment_id)
        return observation
