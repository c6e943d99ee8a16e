"""A teacher: works like `expert`, with habits of its own and with what it has learnt by trying.

One heuristic is one way of working, and whoever imitates it can hardly do better. A teacher may try a training case
before it shows how it is done (`first_try.py`), and it keeps two things: which segments the right answers cited, and
how often each model was right. Both come from observations and scores of finished episodes, never from a scenario's
hidden part. It then hands over what was needed and no more, asks whom experience recommends, and searches once for all
questions. The student sees none of its notes: it has to tell from the prompt what the teacher knew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from TokenOptEnv.config import SEARCH_MAX_TOP_K
from TokenOptEnv.models import ArtifactHandle, Effort, ItemKind, ModelCard, Subtask, TokenOptEnvObservation
from TokenOptEnv.policies import desk, errands, judgement, questions, survey
from TokenOptEnv.policies.expert import Expert, is_about_all, rest_nano_usd, trusted_first
from TokenOptEnv.policies.script import Steps
from TokenOptEnv.simulators import terms
from TokenOptEnv.streams import Stream

Chances = Mapping[tuple[str, Effort], float]
"""By model and effort: how often it was right when it had the evidence."""
Evidence = Mapping[str, tuple[str, ...]]
"""By question: the segments that a right answer cited."""
_WORD = re.compile(r"\w+(?:[.\-/:]\w+)*")
_LISTINGS = (ItemKind.SEARCH, ItemKind.PREVIEW)
_LISTED = re.compile(r"^(\d+) (?:A\d+ s\d+ )?\d+t ", re.MULTILINE)
_GONE_THROUGH = (ItemKind.PREVIEW, ItemKind.SEGMENT, ItemKind.COMPRESSED)
_SLOT = re.compile(r"\{\w+\}")
_HINTS = re.compile(r"\b(?:Traces of it|Look for|Keywords)\b:?")
_CAUTION = 4
"""The rest of an episode counts so much more than for `expert`: a student will be wrong more often than its teacher."""
_LEAST_HANDLES = 3
"""Handed over: what is known to be evidence, and besides what was found first. A student cannot tell it as surely."""
_MISTAKEN = 0.35
"""Of questions, where mistakes are shown."""
_BELIEVED = 0.75
"""The least confidence of a reply to a mistaken question that is left at that."""
_MUCH_TOKENS = 500
_MOST_OTHER_WORDS = 6
_MOST_HINTS = 4


@dataclass(frozen=True, slots=True)
class Habits:
    joined: bool
    """One search for all narrow questions, and another only for what it did not find."""
    top_k: int
    """Of each search."""

    @property
    def name(self) -> str:
        return f"{'one search' if self.joined else 'a search each'}, k{self.top_k}"


EVERY_HABIT = tuple(Habits(*each) for each in product((True, False), (6, SEARCH_MAX_TOP_K)))


@dataclass(frozen=True, slots=True)
class Notes:
    evidence: Evidence = field(default_factory=dict)
    chances: Chances = field(default_factory=dict)


class Teacher(Expert):
    """With `draw`, it now and then hands over the wrong segments first, as a student will, and makes it good."""

    def __init__(self, habits: Habits, notes: Notes, draw: Stream | None = None) -> None:
        super().__init__(0)
        self._habits, self._notes, self._draw = habits, notes, draw
        self.is_mistaken = False
        """The action just taken is a mistake, made to show what comes after it."""

    def prepare(self, observation: TokenOptEnvObservation) -> Steps:
        narrow = [each.question for each in observation.task.subtasks if not is_about_all(each.question)]
        if not self._habits.joined or len(narrow) < 2:
            return observation
        words = dict.fromkeys(word for question in narrow for word in telling_words(_SLOT.sub("", question)))
        return (yield from errands.look_up(observation, " ".join(words), self._habits.top_k))

    def answer(self, observation: TokenOptEnvObservation, subtask: Subtask) -> Steps:
        wording = questions.wording(observation, subtask)
        if is_about_all(wording):
            observation = yield from super().answer(observation, subtask)
            return (yield from self._tidy(observation, subtask))
        evidence = self._notes.evidence.get(subtask.subtask_id, ())
        if self._draw is not None and self._draw.chance(_MISTAKEN) and _shown(observation):
            wrong = [each for each in self._draw.shuffled(_shown(observation)) if each not in evidence[:1]]
            self.is_mistaken = True
            observation = yield from self.ask(observation, subtask, wrong[: self._draw.integer(1, _LEAST_HANDLES)])
            self.is_mistaken = False
            reply = errands.reply(observation, subtask)
            if reply is not None and reply.finding_id is not None and reply.confidence >= _BELIEVED:
                return observation
        hits: Sequence[str] = _shown(observation)
        if not evidence or not set(hits).issuperset(evidence):
            observation = yield from self.look(observation, wording, self._habits.top_k)
            hits = trusted_first(observation, errands.found(observation), wording)
        if subtask not in questions.askable(observation, self.done):
            return observation
        is_at_hand = bool(evidence) and set(_shown(observation)).issuperset(evidence)
        filled = tuple(dict.fromkeys([*evidence, *hits]))[: max(len(evidence), _LEAST_HANDLES)]
        observation = yield from self.ask(observation, subtask, filled if is_at_hand else hits)
        reply = errands.reply(observation, subtask)
        if reply is not None and reply.finding_id is None and self.spare_steps(observation) >= 3:
            return (yield from super().answer(observation, subtask))
        return observation

    def _tidy(self, observation: TokenOptEnvObservation, subtask: Subtask) -> Steps:
        """What was gone through is dropped when there is more to ask: every further prompt would be billed for it."""
        items = [item for item in observation.working_memory.items if item.kind in _GONE_THROUGH]
        tokens = sum(item.tokens for item in items)
        still_open = questions.still_open(observation, {*self.done, subtask.subtask_id})
        is_time = still_open > 0 and observation.budgets.steps.left > 2 * still_open + 1
        drop = desk.purge(observation, items) if is_time and tokens > _MUCH_TOKENS else None
        return observation if drop is None else (yield drop)

    def look(self, observation: TokenOptEnvObservation, wording: str, top_k: int) -> Steps:
        """No search for the one table that a question about all of something can mean."""
        if is_about_all(wording) and len(survey.tables(observation)) == 1:
            return observation
        return (yield from errands.look_up(observation, " ".join(content_words(wording)), top_k))

    def gather(self, observation: TokenOptEnvObservation, table: ArtifactHandle, wording: str) -> Steps:
        """Listings stay while their numbers are needed: a student sees its prompt and remembers nothing."""
        return (yield from survey.gather(observation, table, " ".join(telling_words(wording)), tidy=False))

    def offer(
        self, observation: TokenOptEnvObservation, context_tokens: int, share_nano_usd: int
    ) -> tuple[ModelCard, Effort] | None:
        def chance(card: ModelCard, effort: Effort) -> float:
            return self._notes.chances.get((card.model_id, effort), judgement.chance(card, effort))

        calls, rest = len(observation.task.subtasks), _CAUTION * rest_nano_usd(observation)
        offer = judgement.best_offer(observation.models, context_tokens, calls, rest, share_nano_usd, chance)
        if offer is None:
            return None
        return next(card for card in observation.models if card.model_id == offer.model_id), offer.effort


def telling_words(wording: str) -> tuple[str, ...]:
    """The longest words of a question and the first traces it names, in its order: few, and easy to copy."""
    hints = _HINTS.search(wording)
    asked = content_words(wording[: hints.start()] if hints else wording)
    kept = set(sorted(asked, key=lambda word: (-len(word), word))[:_MOST_OTHER_WORDS])
    named = content_words(wording[hints.end() :])[:_MOST_HINTS] if hints else []
    return tuple(dict.fromkeys([*(word for word in asked if word in kept), *named]))


def content_words(text: str) -> list[str]:
    """Compounds stay whole: the search takes them apart itself."""
    words = _WORD.findall(_HINTS.sub("", text))
    return list(dict.fromkeys(word for word in words if word.lower() not in terms.STOP_WORDS))


def _shown(observation: TokenOptEnvObservation) -> list[str]:
    """What a prompt gives a number to: segments held, and those in a listing that is still there."""
    items = observation.working_memory.items
    listed = {int(alias) for item in items if item.kind in _LISTINGS for alias in _LISTED.findall(item.text)}
    held = {item.item_id for item in items}
    return [each.segment_id for each in observation.surfaced if each.alias in listed or each.segment_id in held]
