"""A sliding window: `rag` that holds only what came last, whatever it is. The oldest goes first, findings included."""

from __future__ import annotations

from TokenOptEnv.models import MemoryItem, TokenOptEnvObservation
from TokenOptEnv.policies import desk
from TokenOptEnv.policies.base import PolicyInfo
from TokenOptEnv.policies.rag import Rag
from TokenOptEnv.policies.script import Steps

_SHARE = 0.5
"""Of the memory there is."""


class SlidingWindow(Rag):
    def forget(self, observation: TokenOptEnvObservation) -> Steps:
        return (yield from _slide(observation))

    def tidy(self, observation: TokenOptEnvObservation) -> Steps:
        return (yield from _slide(observation))


def _slide(observation: TokenOptEnvObservation) -> Steps:
    memory = observation.working_memory
    if memory.token_budget is None:
        return observation
    excess = memory.token_budget_used - int(_SHARE * memory.token_budget)
    oldest: list[MemoryItem] = []
    for item in memory.items:
        if excess <= 0:
            break
        oldest.append(item)
        excess -= item.tokens
    purge = desk.purge(observation, oldest)
    return observation if purge is None else (yield purge)


POLICY = PolicyInfo("sliding-window", "rag that holds only the latest half of what memory could hold", SlidingWindow)
