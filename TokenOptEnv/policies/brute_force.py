"""The expensive honest way: read all that fits, and ask the strongest model everything with all of it.

It opens every artifact, loads what that shows until memory is nearly full, keeps it to the end and hands all of it
over with each question. Only budgets hold it back: a question gets the strongest model and the most effort that its
equal share of the money pays for.
"""

from __future__ import annotations

from TokenOptEnv import questions
from TokenOptEnv.config import FINDING_CAP_TOKENS, FULL_READ_CAP_TOKENS, PREVIEW_CAP_TOKENS, ROUTE_MAX_HANDLES, Profile
from TokenOptEnv.models import (
    ActionType,
    ArtifactHandle,
    RefusalReason,
    RoutePayload,
    Subtask,
    TokenOptEnvAction,
    TokenOptEnvObservation,
)
from TokenOptEnv.policies import desk, resets
from TokenOptEnv.policies.base import PolicyInfo
from TokenOptEnv.policies.purse import Offer, offers
from TokenOptEnv.policies.submission import is_last_chance, submit

_HEADER_TOKENS = 24
"""What the header over a loaded segment takes at most."""
_TOO_DEAR = (RefusalReason.OVER_BUDGET, RefusalReason.CONTEXT_WINDOW)


class BruteForce:
    def __init__(self, seed: int) -> None:
        self._done: set[str] = set()
        self._opened: set[str] = set()
        self._refused_offers = 0
        """How many offers were refused as too dear for the question at hand."""

    def act(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        if is_last_chance(observation):
            return submit(observation)
        bridge = resets.bridge(observation)
        if bridge is not None:
            return bridge
        self._learn(observation)
        while open_questions := questions.askable(observation, self._done):
            step = self._read(observation) or self._ask(observation, open_questions[0])
            if step is not None:
                return step
            self._close(open_questions[0].subtask_id)
        return submit(observation) if resets.is_last_phase(observation) else resets.wait(observation)

    def _learn(self, observation: TokenOptEnvObservation) -> None:
        last = observation.last_tool_result
        if last is None:
            return
        if isinstance(last.payload, RoutePayload):
            self._close(last.payload.subtask_id)
        elif last.refusal is not None and last.refusal.reason in _TOO_DEAR:
            self._refused_offers += 1

    def _close(self, subtask_id: str) -> None:
        self._done.add(subtask_id)
        self._refused_offers = 0

    def _read(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction | None:
        """Another artifact, or else what those opened have shown, as far as steps and room go."""
        if self._spare_steps(observation) < 1:
            return None
        open_questions = questions.still_open(observation, self._done)
        room = desk.room_tokens(observation) - FINDING_CAP_TOKENS * open_questions - _slack(observation)
        for artifact in observation.artifacts:
            if artifact.artifact_id not in self._opened and _read_tokens(artifact) <= room:
                self._opened.add(artifact.artifact_id)
                return TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id=artifact.artifact_id)
        return _load(observation, room)

    def _ask(self, observation: TokenOptEnvObservation, subtask: Subtask) -> TokenOptEnvAction | None:
        """Hand over everything held and as many handles as are allowed; nothing where no offer is left."""
        if desk.room_tokens(observation) < FINDING_CAP_TOKENS:
            return desk.clear(observation)
        held = [item.item_id for item in observation.working_memory.items]
        handles = [handle.segment_id for handle in observation.surfaced if handle.segment_id not in held]
        handles = handles[: ROUTE_MAX_HANDLES[observation.task.profile]]
        offer = self._offer(observation, handles)
        if offer is None:
            return None
        return TokenOptEnvAction(
            action_type=ActionType.ROUTE_SUBTASK,
            subtask_id=subtask.subtask_id,
            model_id=offer.model_id,
            effort=offer.effort.value,
            context_segment_ids=(*held, *handles),
        )

    def _offer(self, observation: TokenOptEnvObservation, handles: list[str]) -> Offer | None:
        """The strongest that an equal share of the money pays for; a weaker one after each refusal."""
        sizes = {handle.segment_id: handle.tokens for handle in observation.surfaced}
        context_tokens = observation.working_memory.token_budget_used + sum(sizes[name] for name in handles)
        share = observation.budgets.nano_usd.left // questions.still_open(observation, self._done)
        affordable = [offer for offer in offers(observation, context_tokens) if offer.nano_usd <= share]
        return affordable[self._refused_offers] if self._refused_offers < len(affordable) else None

    def _spare_steps(self, observation: TokenOptEnvObservation) -> int:
        """What is left of the phase when one step is kept for each open question, and one for its end."""
        left = observation.budgets.steps.left
        ends_at_step = observation.task.phase_ends_at_step
        if ends_at_step is not None:
            left = min(left, ends_at_step - observation.step)
        return left - 1 - questions.still_open(observation, self._done)


def _slack(observation: TokenOptEnvObservation) -> int:
    """A memory that stays nearly full counts as hoarding."""
    return (observation.working_memory.token_budget or 0) // 10


def _load(observation: TokenOptEnvObservation, room: int) -> TokenOptEnvAction | None:
    """Whatever was shown and is not held, in the order shown, while it fits."""
    if observation.task.profile is Profile.V1:
        return None
    held = {item.item_id for item in observation.working_memory.items}
    chosen: list[str] = []
    for handle in observation.surfaced:
        size = handle.tokens + _HEADER_TOKENS
        if handle.segment_id not in held and size <= room:
            chosen.append(handle.segment_id)
            room -= size
    if not chosen:
        return None
    return TokenOptEnvAction(action_type=ActionType.HYDRATE_SEGMENTS, context_segment_ids=tuple(chosen))


def _read_tokens(artifact: ArtifactHandle) -> int:
    if artifact.tokens > FULL_READ_CAP_TOKENS:
        return PREVIEW_CAP_TOKENS
    return artifact.tokens + _HEADER_TOKENS * artifact.segments


POLICY = PolicyInfo("brute-force", "reads all that fits and asks the strongest model with all of it", BruteForce)
