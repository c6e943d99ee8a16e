"""Words that lead from a question to its evidence, for questions that share the words of their facts.

A question counts as lexical because its facts can be found by its words. Whether they can is a property of all
the papers around them, which no template knows; so it is checked with the real search, and where a fact does
not come up among the first hits, words of its own or of its page are added to the question. None of them is taken
from an answer, right or wrong: a pointer says where to look, never what is there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nlargest

from TokenOptEnv.config import SEARCH_MAX_TOP_K
from TokenOptEnv.models.task import Subtask
from TokenOptEnv.scenario import Fact, Scenario, SubtaskTruth
from TokenOptEnv.simulators import terms
from TokenOptEnv.simulators.retrieval import Retriever
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.generation import Split

QUESTION_CAP_TOKENS = 72
"""What a question takes at most, its pointers included: it stands in the prompt of every step."""
_STRAY_HITS = 1
"""Among the first hits of a lexical question stand its facts, and so many others."""
_MOST_FACTS = SEARCH_MAX_TOP_K
"""A question that surveys more places than this is not answered by the hits of one search."""
_POINTERS = (3, 5)
"""How many words are added: drawn beforehand, since a count that followed from the facts would tell of them."""
_WORDS_TRIED = 8
"""Of a fact, and then of the page it stands on, where the fact has no word of its own left to give."""
_WORD = re.compile(r"(?<![A-Za-z])[A-Za-z]{4,9}(?![A-Za-z])")
"""What a person would remember of a line; no numbers, and no names that are a sentence long: both would show."""
_LEADS = {True: ("Pointers: {}.", "Terms seen: {}."), False: ("Look for {}.", "Traces of it: {}.")}
"""By whether the case is of the test split, which asks in words of its own."""


def point(scenario: Scenario, split: Split, draw: Stream) -> Scenario:
    """The same scenario, its lexical questions extended where their own words do not lead to their facts."""
    facts = {fact.fact_id: fact for fact in scenario.hidden.facts}
    truths = {truth.subtask_id: truth for truth in scenario.hidden.subtasks}
    given_away = frozenset(term for truth in scenario.hidden.subtasks for term in _telling_terms(truth))
    rooms = _reading_rooms(scenario)
    subtasks = []
    for subtask in scenario.public.subtasks:
        truth = truths[subtask.subtask_id]
        if truth.lexical and len(truth.needs) <= _MOST_FACTS:
            needed = [facts[name] for name in truth.needs]
            count = draw.integer(*_POINTERS)
            words = _pointers(_filled(subtask, truth), needed, rooms[subtask.subtask_id], given_away, count)
            if words:
                lead = draw.choice(_LEADS[split is Split.TEST])
                question = f"{subtask.question} {lead.format(', '.join(words))}"
                subtask = subtask.model_copy(update={"question": question})
        subtasks.append(subtask)
    return replace(scenario, public=scenario.public.model_copy(update={"subtasks": tuple(subtasks)}))


def _telling_terms(truth: SubtaskTruth) -> list[str]:
    """Terms that tell one answer from others: those that most answers share say nothing about any."""
    counts = Counter(
        term
        for candidate in truth.candidates
        for term in {term for value in candidate.values.values() for term in terms.terms(value)}
    )
    return [term for term, count in counts.items() if 2 * count <= len(truth.candidates)]


@dataclass(frozen=True)
class _ReadingRoom:
    """What can be read when a question is asked, and searched."""

    texts: dict[str, str]

    @cached_property
    def retriever(self) -> Retriever:
        return Retriever(list(self.texts.items()))

    @cached_property
    def spread(self) -> Counter[str]:
        """By word: in how many segments it stands."""
        return Counter(word for text in self.texts.values() for word in set(_words(text)))

    def telling_words(self, fact: Fact, given_away: frozenset[str]) -> list[str]:
        """The rarest words of its own, then the rarest of the page it stands on."""
        place = fact.places[0]
        own = [word for word in dict.fromkeys(_words(place.text)) if word not in given_away]
        page = [word for word in dict.fromkeys(_words(self.texts[place.segment_id])) if word not in given_away]
        rare = sorted((word for word in page if word not in own), key=lambda word: self.spread[word])
        return [*sorted(own, key=lambda word: self.spread[word])[:_WORDS_TRIED], *rare[:_WORDS_TRIED]]


def _pointers(
    question: str, needed: Sequence[Fact], room: _ReadingRoom, given_away: frozenset[str], count: int
) -> tuple[str, ...]:
    """Greedy: the word that takes most of what the facts still lack to be near; then any that does not lead away."""
    spots = [tuple(dict.fromkeys(place.segment_id for place in fact.places)) for fact in needed]
    near = len(set(spots)) + _STRAY_HITS

    def lacks(words: Sequence[str]) -> list[float]:
        """By fact: how much its best place falls short of a place among the first hits."""
        scores = room.retriever.scores(" ".join([question, *words]))
        best = {max(each, key=lambda name: scores.get(name, -1.0)) for each in spots}
        rivals = nlargest(near - len(best) + 1, (score for name, score in scores.items() if name not in best))
        line = rivals[-1] if len(rivals) > near - len(best) else 0.0
        return [max(0.0, line - max(scores.get(name, -1.0) for name in each)) for each in spots]

    chosen: tuple[str, ...] = ()
    short = lacks(chosen)
    while len(chosen) < count:
        missing = [fact for fact, gap in zip(needed, short, strict=True) if gap] or needed
        words = dict.fromkeys(word for fact in missing for word in room.telling_words(fact, given_away))
        tried = [(sum(gaps), word, gaps) for word in words if word not in chosen for gaps in [lacks((*chosen, word))]]
        if not tried:
            break
        _, word, short = min(tried)
        chosen = (*chosen, word)
    return chosen


def _words(text: str) -> list[str]:
    words = (word.lower() for word in _WORD.findall(text))
    return [word for word in words if word not in terms.STOP_WORDS]


def _filled(subtask: Subtask, truth: SubtaskTruth) -> str:
    if subtask.slot is None or truth.slot_value is None:
        return subtask.question
    return subtask.question.replace(f"{{{subtask.slot.name}}}", truth.slot_value)


def _reading_rooms(scenario: Scenario) -> dict[str, _ReadingRoom]:
    """By subtask: what its phase lets one read."""
    public = scenario.public
    scopes = [(phase.artifact_ids, phase.subtask_ids) for phase in public.phases]
    if not scopes:
        scopes = [
            (tuple(each.artifact_id for each in public.artifacts), tuple(each.subtask_id for each in public.subtasks))
        ]
    found: dict[str, _ReadingRoom] = {}
    for artifact_ids, subtask_ids in scopes:
        room = _ReadingRoom(
            {
                segment.segment_id: segment.text
                for artifact in public.artifacts
                if artifact.artifact_id in artifact_ids
                for segment in artifact.segments
            }
        )
        found.update(dict.fromkeys(subtask_ids, room))
    return found
