"""The trivial baseline: one search a question, and the cheapest model on its hits. Anything worth training beats it."""

from __future__ import annotations

from TokenOptEnv import questions
from TokenOptEnv.config import FINDING_CAP_TOKENS, ROUTE_MAX_HANDLES, SEARCH_HIT_CAP_TOKENS, Profile
from TokenOptEnv.models import (
    ActionType,
    ModelCard,
    ReadPayload,
    SearchPayload,
    Subtask,
    TokenOptEnvAction,
    TokenOptEnvObservation,
)
from TokenOptEnv.policies import desk, resets
from TokenOptEnv.policies.base import PolicyInfo
from TokenOptEnv.policies.submission import is_last_chance, submit
from TokenOptEnv.simulators import terms

_TOP_K = 4
_ROOM_TOKENS = SEARCH_HIT_CAP_TOKENS * _TOP_K + FINDING_CAP_TOKENS


class Cheapest:
    def __init__(self, seed: int) -> None:
        self._looked_up: str | None = None
        """The question whose evidence the last action looked for."""
        self._done: set[str] = set()
        self._opened: set[str] = set()

    def act(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        if is_last_chance(observation):
            return submit(observation)
        bridge = resets.bridge(observation)
        if bridge is not None:
            return bridge
        if self._looked_up is not None:
            subtask_id, self._looked_up = self._looked_up, None
            self._done.add(subtask_id)
            return _ask(observation, subtask_id)
        open_questions = questions.askable(observation, self._done)
        if not open_questions:
            return submit(observation) if resets.is_last_phase(observation) else resets.wait(observation)
        if desk.room_tokens(observation) < _ROOM_TOKENS:
            cleared = desk.clear(observation)
            if cleared is not None:
                return cleared
        self._looked_up = open_questions[0].subtask_id
        return self._look_up(observation, open_questions[0])

    def _look_up(self, observation: TokenOptEnvObservation, subtask: Subtask) -> TokenOptEnvAction:
        """A search; in profile v1, which has none, the artifact whose title says most of the question."""
        query = questions.wording(observation, subtask)
        if observation.task.profile is not Profile.V1:
            return TokenOptEnvAction(action_type=ActionType.SEARCH_ARTIFACTS, query=query, top_k=_TOP_K)
        words = set(terms.distinct(query))
        unopened = [each for each in observation.artifacts if each.artifact_id not in self._opened]
        nearest = max(
            unopened or observation.artifacts,
            key=lambda each: (len(words.intersection(terms.terms(each.title))), -each.alias),
        )
        self._opened.add(nearest.artifact_id)
        return TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id=nearest.artifact_id)


def cheapest_model(observation: TokenOptEnvObservation) -> ModelCard:
    return min(observation.models, key=lambda card: (card.input_pico_usd, card.output_pico_usd, card.model_id))


def _ask(observation: TokenOptEnvObservation, subtask_id: str) -> TokenOptEnvAction:
    last = observation.last_tool_result
    match last.payload if last is not None else None:
        case SearchPayload(hits=hits):
            segment_ids = tuple(hit.segment_id for hit in hits)
        case ReadPayload(preview_segment_ids=segment_ids):
            segment_ids = segment_ids[: ROUTE_MAX_HANDLES[observation.task.profile]]
        case _:
            segment_ids = ()
    return TokenOptEnvAction(
        action_type=ActionType.ROUTE_SUBTASK,
        subtask_id=subtask_id,
        model_id=cheapest_model(observation).model_id,
        context_segment_ids=segment_ids,
    )


POLICY = PolicyInfo("cheapest", "one search a question, then the cheapest model on its four hits", Cheapest)
