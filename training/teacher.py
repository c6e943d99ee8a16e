"""A teacher: works like `expert`, as far as a student can follow, and knows from earlier tries what was needed.

A student that sees its prompt alone cannot imitate one that remembers: `expert` drops a listing and then loads by its
numbers. So a teacher names only what the prompt gives a number to, and copies the words of a question as they stand.
And whoever imitates one heuristic can hardly do better. So it has a note of which segments the right answers cited when
the case was tried before (`first_try.py`); these it hands over, and what was found first besides. Notes come from
observations and from scores of episodes that are over, never from a scenario's hidden part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from TokenOptEnv.models import ArtifactHandle, Effort, ItemKind, ModelCard, Subtask, TokenOptEnvObservation
from TokenOptEnv.policies import desk, errands, judgement, questions, survey
from TokenOptEnv.policies.expert import Expert, is_about_all, rest_nano_usd, trusted_first
from TokenOptEnv.policies.script import Steps
from TokenOptEnv.simulators import terms
from TokenOptEnv.streams import Stream

Evidence = Mapping[str, tuple[str, ...]]
"""By question: the segments that a right answer cited."""
_WORD = re.compile(r"\w+(?:[.\-/:]\w+)*")
_HINTS = re.compile(r"\b(?:Traces of it|Look for|Keywords)\b:?")
_GONE_THROUGH = (ItemKind.PREVIEW, ItemKind.SEGMENT, ItemKind.COMPRESSED)
_CAUTION = 2
"""The rest of an episode counts so much more than for `expert`: a student will be wrong more often than its teacher."""
_MISTAKEN = 0.15
"""Of questions, where mistakes are shown."""
_BELIEVED = 0.75
"""The least confidence of a reply to a mistaken question that is left at that."""
_STEPS_TO_TRY_AGAIN = 3
_MUCH_TOKENS = 500


@dataclass(frozen=True, slots=True)
class Habits:
    top_k: int
    """Of a search."""
    handles: int
    """Handed over with a question: evidence, and what was found first besides."""

    @property
    def name(self) -> str:
        return f"k{self.top_k}, {self.handles} handles"


EVERY_HABIT = (Habits(5, 3), Habits(6, 3), Habits(6, 4))


class Teacher(Expert):
    """With `draw`, it now and then hands over the wrong segments first, as a student will, and makes it good."""

    def __init__(self, habits: Habits, evidence: Evidence, draw: Stream | None = None) -> None:
        super().__init__(0)
        self._habits, self._evidence, self._draw = habits, evidence, draw
        self.is_mistaken = False
        """The action just taken is a mistake, made to show what comes after it."""

    def answer(self, observation: TokenOptEnvObservation, subtask: Subtask) -> Steps:
        wording = questions.wording(observation, subtask)
        if is_about_all(wording):
            observation = yield from super().answer(observation, subtask)
            return (yield from self._tidy(observation, subtask))
        observation = yield from self.look(observation, wording, self._habits.top_k)
        hits = trusted_first(observation, errands.found(observation), wording)
        if subtask not in questions.askable(observation, self.done):
            return observation
        if self._draw is not None and self._draw.chance(_MISTAKEN):
            observation = yield from self._ask_about_others(observation, subtask, hits)
            reply = errands.reply(observation, subtask)
            if reply is not None and reply.finding_id is not None and reply.confidence >= _BELIEVED:
                return observation
        observation = yield from self.ask(observation, subtask, self._needed(subtask, hits))
        reply = errands.reply(observation, subtask)
        is_time = self.spare_steps(observation) >= _STEPS_TO_TRY_AGAIN
        if reply is not None and reply.finding_id is None and is_time:
            return (yield from super().answer(observation, subtask))
        return observation

    def look(self, observation: TokenOptEnvObservation, wording: str, top_k: int) -> Steps:
        """No search for the one table that a question about all of something can mean."""
        if is_about_all(wording) and len(survey.tables(observation)) == 1:
            return observation
        return (yield from errands.look_up(observation, " ".join(content_words(wording)), top_k))

    def gather(self, observation: TokenOptEnvObservation, table: ArtifactHandle, wording: str) -> Steps:
        """Listings stay while their numbers are needed."""
        return (yield from survey.gather(observation, table, " ".join(content_words(wording)), tidy=False))

    def offer(
        self, observation: TokenOptEnvObservation, context_tokens: int, share_nano_usd: int
    ) -> tuple[ModelCard, Effort] | None:
        calls, rest = len(observation.task.subtasks), _CAUTION * rest_nano_usd(observation)
        offer = judgement.best_offer(observation.models, context_tokens, calls, rest, share_nano_usd)
        if offer is None:
            return None
        return next(card for card in observation.models if card.model_id == offer.model_id), offer.effort

    def _needed(self, subtask: Subtask, hits: Sequence[str]) -> list[str]:
        """In the order they were found: where nothing else is known these are the first, and a student can tell."""
        known = [each for each in self._evidence.get(subtask.subtask_id, ()) if each in hits]
        most = max(len(known), self._habits.handles)
        chosen = list(dict.fromkeys([*known, *hits]))[:most]
        return [each for each in hits if each in chosen]

    def _ask_about_others(self, observation: TokenOptEnvObservation, subtask: Subtask, hits: Sequence[str]) -> Steps:
        assert self._draw is not None
        known = self._evidence.get(subtask.subtask_id, ())[:1]
        others = [each for each in self._draw.shuffled(hits) if each not in known]
        self.is_mistaken = True
        observation = yield from self.ask(observation, subtask, others[: self._draw.integer(1, 2)])
        self.is_mistaken = False
        return observation

    def _tidy(self, observation: TokenOptEnvObservation, subtask: Subtask) -> Steps:
        """What was gone through is dropped when there is more to ask: every further prompt would be billed for it."""
        items = [item for item in observation.working_memory.items if item.kind in _GONE_THROUGH]
        tokens = sum(item.tokens for item in items)
        still_open = questions.still_open(observation, {*self.done, subtask.subtask_id})
        is_time = still_open > 0 and observation.budgets.steps.left > 2 * still_open + 1
        drop = desk.purge(observation, items) if is_time and tokens > _MUCH_TOKENS else None
        return observation if drop is None else (yield drop)


def content_words(text: str) -> list[str]:
    """The words of a question that say something, in its order; compounds stay whole, the search takes them apart."""
    words = _WORD.findall(_HINTS.sub("", text))
    return list(dict.fromkeys(word for word in words if word.lower() not in terms.STOP_WORDS))
