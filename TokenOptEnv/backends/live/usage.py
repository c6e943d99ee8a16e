"""What a call took, as its server counted it; counted here where the server tells nothing that can be true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from TokenOptEnv.models import ModelCard
from TokenOptEnv.simulators.backend import RouteUsage
from TokenOptEnv.world import text_tokens

_FACTOR: Final = 4
_SLACK_TOKENS: Final = 1_000
"""Vocabularies differ and servers put words of their own around a prompt, but not more than so."""


@dataclass(frozen=True, slots=True)
class Usage:
    billed: RouteUsage
    reasoning_tokens: int
    counted_by: Literal["server", "here"]

    def __add__(self, other: Usage) -> Usage:
        ours, theirs = self.billed, other.billed
        return Usage(
            RouteUsage(
                ours.prompt_tokens + theirs.prompt_tokens,
                ours.cached_tokens + theirs.cached_tokens,
                ours.completion_tokens + theirs.completion_tokens,
            ),
            self.reasoning_tokens + other.reasoning_tokens,
            "server" if self.counted_by == other.counted_by == "server" else "here",
        )


def usage_of(stated: object, card: ModelCard, prompt: str, content: str, most_completion: int) -> Usage:
    seen = RouteUsage(text_tokens(card, prompt), 0, text_tokens(card, content))
    told = _told(stated)
    if told is None or not _plausible(told, seen, most_completion):
        return Usage(seen, 0, "here")
    return told


def _told(stated: object) -> Usage | None:
    if not isinstance(stated, dict):
        return None
    prompt, completion = _count(stated.get("prompt_tokens")), _count(stated.get("completion_tokens"))
    cached = _detail(stated, "prompt_tokens_details", "cached_tokens")
    reasoning = _detail(stated, "completion_tokens_details", "reasoning_tokens")
    if prompt is None or completion is None or cached is None or reasoning is None:
        return None
    if _count(stated.get("total_tokens")) == prompt + completion + reasoning:
        completion += reasoning  # some servers keep the two apart
    if cached > prompt or reasoning > completion:
        return None
    return Usage(RouteUsage(prompt, cached, completion), reasoning, "server")


def _plausible(told: Usage, seen: RouteUsage, most_completion: int) -> bool:
    prompt, completion = told.billed.prompt_tokens, told.billed.completion_tokens
    return (
        seen.prompt_tokens <= _FACTOR * prompt
        and prompt <= _FACTOR * seen.prompt_tokens + _SLACK_TOKENS
        and seen.completion_tokens <= _FACTOR * completion
        and completion <= _FACTOR * most_completion
    )


def _detail(stated: dict[str, Any], group: str, name: str) -> int | None:
    """0 where the server does not go into detail; None where what it says is no count."""
    details = stated.get(group)
    if not isinstance(details, dict) or details.get(name) is None:
        return 0
    return _count(details[name])


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
