"""Uniform over what is legal, field by field: the floor under every other number.

Free-form fields are made up, now and then out of range, so this also exercises every refusal.
"""

from __future__ import annotations

from typing import Any

from TokenOptEnv.config import SEARCH_MAX_TOP_K
from TokenOptEnv.models import LegalAction, LegalField, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.policies.base import PolicyInfo
from TokenOptEnv.simulators import terms
from TokenOptEnv.streams import Stream

_LISTS = ("context_segment_ids", "finding_ids", "evidence_segment_ids")
_MOST_IDS = 4
_WRONG_SHARE = 0.1


class RandomLegal:
    def __init__(self, seed: int) -> None:
        self._seed = seed

    def act(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        stream = Stream("policy", "random", self._seed, observation.task.scenario_id, observation.step)
        form = stream.choice(observation.legal_actions.actions)
        return TokenOptEnvAction(action_type=form.action_type, **_fields(form, observation, stream))


def _fields(form: LegalAction, observation: TokenOptEnvObservation, stream: Stream) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in form.fields:
        if not field.required and stream.chance(0.5):
            continue
        choices = [choice for name in field.choices_from for choice in observation.legal_actions.choices[name]]
        if field.choices_from and not choices:
            continue
        if field.name in _LISTS:
            values[field.name] = (*values.get(field.name, ()), *_some(choices, field, stream))
        elif field.name == "answer":
            values[field.name] = _answer(choices, observation, stream)
        else:
            values[field.name] = stream.choice(choices) if choices else _made_up(field.name, observation, stream)
    return values


def _some(choices: list[str], field: LegalField, stream: Stream) -> list[str]:
    most = min(len(choices), field.max_items or _MOST_IDS, _MOST_IDS)
    return stream.shuffled(choices)[: stream.integer(1, most)]


def _answer(names: list[str], observation: TokenOptEnvObservation, stream: Stream) -> dict[str, str]:
    options = {field.name: field.choices for field in observation.task.answer_fields}
    return {name: stream.choice(options[name]) if options[name] else _words(observation, stream) for name in names}


def _made_up(name: str, observation: TokenOptEnvObservation, stream: Stream) -> int | float | str:
    is_wrong = stream.chance(_WRONG_SHARE)
    match name:
        case "page":
            return 0 if is_wrong else stream.integer(1, 3)
        case "top_k":
            return SEARCH_MAX_TOP_K + 1 if is_wrong else stream.integer(1, SEARCH_MAX_TOP_K)
        case "target_ratio":
            return 1.5 if is_wrong else round(stream.random(), 2)
        case _:
            return "" if is_wrong else _words(observation, stream)


def _words(observation: TokenOptEnvObservation, stream: Stream) -> str:
    """A few words of the task, which is all a policy that reads nothing can speak with."""
    words = terms.distinct(" ".join([observation.task.brief, *(q.question for q in observation.task.subtasks)]))
    return " ".join(stream.choice(words) for _ in range(stream.integer(1, 5)))


POLICY = PolicyInfo("random", "uniform over the legal actions and their choices", RandomLegal)
