"""The frame of a scripted policy: its moves are told in order, and resets or empty pockets may break the telling off.

A policy that searches, asks and asks again is a sequence, not a table of states. So its way with a question is a
generator: it yields an action and is handed the observation that follows. What every policy must mind, whatever
its idea, stands here once: the last chance to answer, notes before a reset, questions that wait for a slot.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator

from TokenOptEnv import questions
from TokenOptEnv.models import Subtask, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.policies import resets
from TokenOptEnv.policies.submission import is_last_chance, submit

Steps = Generator[TokenOptEnvAction, TokenOptEnvObservation, TokenOptEnvObservation]
"""Some actions in a row; it returns the observation after the last of them."""


class Scripted(ABC):
    def __init__(self, seed: int) -> None:
        self.done: set[str] = set()
        """Questions that are settled or given up."""
        self.distrusted: set[str] = set()
        """Findings that are held but not to be built on."""
        self._phase = -1
        self._script: Steps | None = None

    def act(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        if is_last_chance(observation):
            return submit(observation, self.distrusted)
        if observation.task.phase != self._phase:
            self._phase, self._script = observation.task.phase, None
        if self._script is not None:
            return resets.save(observation) or self._script.send(observation)
        bridge = resets.bridge(observation)
        if bridge is not None:
            return bridge
        self._script = self._play(observation)
        return next(self._script)

    def prepare(self, observation: TokenOptEnvObservation) -> Steps:
        """What is done once, before the first question of a phase."""
        yield from ()
        return observation

    @abstractmethod
    def answer(self, observation: TokenOptEnvObservation, subtask: Subtask) -> Steps:
        """All that is done about one question, which can be asked now."""

    def share_nano_usd(self, observation: TokenOptEnvObservation) -> int:
        """An equal share of the money left for each question that may still be asked."""
        return observation.budgets.nano_usd.left // max(1, questions.still_open(observation, self.done))

    def spare_steps(self, observation: TokenOptEnvObservation) -> int:
        """What is left of the phase when two steps are kept for each later question, and one for the end."""
        left = observation.budgets.steps.left
        if observation.task.phase_ends_at_step is not None:
            left = min(left, observation.task.phase_ends_at_step - observation.step)
        return left - 1 - 2 * max(0, questions.still_open(observation, self.done) - 1)

    def _play(self, observation: TokenOptEnvObservation) -> Steps:
        observation = yield from self.prepare(observation)
        while open_questions := questions.askable(observation, self.done):
            observation = yield from self.answer(observation, open_questions[0])
            self.done.add(open_questions[0].subtask_id)
        while not resets.is_last_phase(observation):
            observation = yield resets.hand_over(observation) or resets.wait(observation)
        while True:
            observation = yield submit(observation, self.distrusted)
