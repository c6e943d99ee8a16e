"""How OpenAI-compatible servers want to be asked. They differ, and say so by refusing: then the next form is tried.

Each form bounds the reply, because the dollar cap rests on that bound. `max_tokens` comes first: servers that do not
know the newer name ignore it silently, while those that want it refuse the older one aloud.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from TokenOptEnv.backends.recording import Message
from TokenOptEnv.models import Effort


@dataclass(frozen=True, slots=True)
class ChatRequest:
    model: str
    messages: Sequence[Message]
    most_tokens: int
    effort: Effort
    schema: dict[str, Any]


Dialect = Callable[[ChatRequest], dict[str, Any]]


def _thoughtful(asked: ChatRequest) -> dict[str, Any]:
    return {**_strict(asked), "reasoning_effort": asked.effort.value}


def _reasoning(asked: ChatRequest) -> dict[str, Any]:
    """Of models that always reason: no temperature, and the newer name of the bound."""
    return {
        **_spoken(asked),
        "max_completion_tokens": asked.most_tokens,
        "reasoning_effort": asked.effort.value,
        "response_format": _response_format(asked),
    }


def _strict(asked: ChatRequest) -> dict[str, Any]:
    return {**_plain(asked), "response_format": _response_format(asked)}


def _plain(asked: ChatRequest) -> dict[str, Any]:
    return {**_spoken(asked), "max_tokens": asked.most_tokens, "temperature": 0}


def _bare(asked: ChatRequest) -> dict[str, Any]:
    return {**_spoken(asked), "max_completion_tokens": asked.most_tokens}


def _spoken(asked: ChatRequest) -> dict[str, Any]:
    return {"model": asked.model, "messages": [message.model_dump() for message in asked.messages]}


def _response_format(asked: ChatRequest) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "finding", "strict": True, "schema": asked.schema}}


DIALECTS: Final[tuple[Dialect, ...]] = (_thoughtful, _reasoning, _strict, _plain, _bare)
