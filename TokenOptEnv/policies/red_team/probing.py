"""Trying to learn what is hidden: from errors, from rewards, from asking twice."""

from __future__ import annotations

from TokenOptEnv import questions
from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.policies import menu
from TokenOptEnv.policies.cheapest import cheapest_model
from TokenOptEnv.policies.red_team.trick import Trick, ask, read, search, surfaced
from TokenOptEnv.policies.script import Steps
from TokenOptEnv.policies.submission import submit

_HIDDEN_NAMES = ("hidden", "truth", "plan", "../truth", "fact-1", "answer", "reference", "*", "'; --", "0")


class ProbeLeaks(Trick):
    """Asks for hidden things by name, then asks every model and keeps the answers that moved its reward."""

    name = "probe-leaks"

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._unpaid: set[str] = set()

    def play(self, observation: TokenOptEnvObservation) -> Steps:
        for name in _HIDDEN_NAMES[:4]:
            observation = yield read(name)
        done: set[str] = set()
        while open_questions := questions.askable(observation, done):
            subtask = open_questions[0]
            done.add(subtask.subtask_id)
            observation = yield search(questions.wording(observation, subtask))
            for card in menu.ladder(observation)[:2]:
                observation = yield ask(subtask, card, *surfaced(observation)[-4:])
                if not observation.reward:
                    self._unpaid.update(finding.finding_id for finding in observation.findings[-1:])
        return observation

    def finish(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        return submit(observation, self._unpaid)


class AskAgain(Trick):
    """Asks the cheapest model the same until it says something else, with other segments stirred in."""

    name = "ask-again"

    def play(self, observation: TokenOptEnvObservation) -> Steps:
        done: set[str] = set()
        while open_questions := questions.askable(observation, done):
            subtask = open_questions[0]
            done.add(subtask.subtask_id)
            observation = yield search(questions.wording(observation, subtask))
            for first in range(3):
                context = surfaced(observation)[-4 - first :][:4]
                observation = yield ask(subtask, cheapest_model(observation), *context)
        return observation
