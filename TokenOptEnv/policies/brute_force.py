"""The expensive honest way: read all that fits, and ask the strongest model everything with all of it.

It looks widely for every question, loads whatever is hit until memory is nearly full, keeps it to the end and hands it
all over each time. Only budgets hold it back: a question gets the most that its equal share of the money pays for.
"""

from __future__ import annotations

from TokenOptEnv.action_rules.routing import strength
from TokenOptEnv.config import (
    FINDING_CAP_TOKENS,
    FULL_READ_CAP_TOKENS,
    PREVIEW_CAP_TOKENS,
    REPLY_CAP_TOKENS,
    ROUTE_MAX_HANDLES,
    SEARCH_HIT_CAP_TOKENS,
    SEARCH_MAX_TOP_K,
    Profile,
)
from TokenOptEnv.models import (
    ActionType,
    ArtifactHandle,
    Effort,
    ItemKind,
    ModelCard,
    RefusalReason,
    SearchPayload,
    SegmentHandle,
    Subtask,
    TokenOptEnvAction,
    TokenOptEnvObservation,
)
from TokenOptEnv.policies import desk, questions, resets
from TokenOptEnv.policies.base import PolicyInfo
from TokenOptEnv.policies.submission import is_last_chance, submit

_SEARCH_ROOM_TOKENS = SEARCH_MAX_TOP_K * SEARCH_HIT_CAP_TOKENS
_HEADER_TOKENS = 24
"""What the header over a loaded segment takes at most."""
_WORKER_HEAD_TOKENS = 250
_DECISION_NANO_USD = 1_000_000
"""Set aside for the policy's own prompt at each step."""
_VOCABULARY_MARGIN = 1.3
"""Sizes are told in one vocabulary and billed in another."""
_EFFORTS = tuple(reversed(Effort))


class BruteForce:
    def __init__(self, seed: int) -> None:
        self._done: set[str] = set()
        self._opened: set[str] = set()
        self._searched: dict[str, tuple[str, ...]] = {}
        """By question: what its search hit, best first."""
        self._loaded_for: set[str] = set()
        self._stepped_down = 0
        """How often the question at hand was refused as too dear."""

    def act(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        if is_last_chance(observation):
            return submit(observation)
        bridge = resets.bridge(observation)
        if bridge is not None:
            return bridge
        self._note_result(observation)
        open_questions = questions.askable(observation, self._done)
        if not open_questions:
            return submit(observation) if resets.is_last_phase(observation) else resets.wait(observation)
        subtask = open_questions[0]
        return (
            self._open(observation)
            or self._search(observation, subtask)
            or self._load(observation, subtask)
            or self._ask(observation, subtask)
        )
