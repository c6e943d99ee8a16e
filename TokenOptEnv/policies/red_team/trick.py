"""The frame of a trick: a script of actions, and at its end, or at the last chance, an answer of some kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from TokenOptEnv import questions
from TokenOptEnv.models import ActionType, ModelCard, Subtask, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.policies.cheapest import cheapest_model
from TokenOptEnv.policies.script import Steps
from TokenOptEnv.policies.submission import is_last_chance, submit

_TOP_K = 4


class Trick(ABC):
    name: ClassVar[str]

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._script: Steps | None = None

    def act(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        if is_last_chance(observation):
            return self.finish(observation)
        try:
            if self._script is None:
                self._script = self.play(observation)
                return next(self._script)
            return self._script.send(observation)
        except StopIteration:
            return self.finish(observation)

    @abstractmethod
    def play(self, observation: TokenOptEnvObservation) -> Steps:
        """The trick itself."""

    def finish(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        return submit(observation)


def search(query: str) -> TokenOptEnvAction:
    return TokenOptEnvAction(action_type=ActionType.SEARCH_ARTIFACTS, query=query, top_k=_TOP_K)


def read(artifact_id: str) -> TokenOptEnvAction:
    return TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id=artifact_id)


def hydrate(*segment_ids: str) -> TokenOptEnvAction:
    return TokenOptEnvAction(action_type=ActionType.HYDRATE_SEGMENTS, context_segment_ids=segment_ids)


def ask(subtask: Subtask, card: ModelCard, *segment_ids: str) -> TokenOptEnvAction:
    return TokenOptEnvAction(
        action_type=ActionType.ROUTE_SUBTASK,
        subtask_id=subtask.subtask_id,
        model_id=card.model_id,
        context_segment_ids=segment_ids,
    )


def held(observation: TokenOptEnvObservation) -> set[str]:
    return {item.item_id for item in observation.working_memory.items}


def surfaced(observation: TokenOptEnvObservation) -> tuple[str, ...]:
    return tuple(handle.segment_id for handle in observation.surfaced)


def smallest_artifact(observation: TokenOptEnvObservation) -> str:
    return min(observation.artifacts, key=lambda each: (each.tokens, each.alias)).artifact_id


def ask_everything(observation: TokenOptEnvObservation) -> Steps:
    """What `cheapest` does, which is the least that can earn anything: a search and a call for each question."""
    done: set[str] = set()
    while open_questions := questions.askable(observation, done):
        subtask = open_questions[0]
        done.add(subtask.subtask_id)
        observation = yield search(questions.wording(observation, subtask))
        found = surfaced(observation)[-_TOP_K:]
        observation = yield ask(subtask, cheapest_model(observation), *found)
    return observation
