"""Words that lead from a question to its evidence, for questions that share the words of their facts.

A question counts as lexical because its facts can be found by its words. Whether they can is a property of all
the papers around them, which no template knows; so it is checked with the real search, and where a fact does
not come up among the first hits, words of its own are added to the question. None of them is taken from an answer,
right or wrong: a pointer says where to look, never what is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from TokenOptEnv.config import Difficulty
from TokenOptEnv.models.task import Subtask
from TokenOptEnv.scenario import Fact, Scenario, SubtaskTruth
from TokenOptEnv.simulators import terms
from TokenOptEnv.simulators.retrieval import Retriever
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.generation import Outline, Split

_NEAR_HITS = {Difficulty.EASY: 4, Difficulty.MEDIUM: 4, Difficulty.HARD: 5, Difficulty.MARATHON: 5}
"""Among so many first hits the facts of a lexical question stand."""
_MOST_FACTS = 5
"""A question that surveys more places than this is not answered by its first hits."""
_MOST_WORDS = 8
_WORD = re.compile(r"[A-Za-z][A-Za-z]{3,}")
_LEADS = {True: ("Pointers: {}.", "Terms seen: {}."), False: ("Look for {}.", "Traces of it: {}.")}
"""By whether the case is of the test split, which asks in words of its own."""


def point(scenario: Scenario, outline: Outline) -> Scenario:
    """The same scenario, its lexical questions extended where their own words do not lead to their facts."""
    facts = {fact.fact_id: fact for fact in scenario.hidden.facts}
    spoken_for = frozenset(
        term
        for truth in scenario.hidden.subtasks
        for candidate in truth.candidates
        for value in candidate.values.values()
        for term in terms.terms(value)
    )
    truths = {truth.subtask_id: truth for truth in scenario.hidden.subtasks}
    retrievers = _retrievers(scenario)
    subtasks = []
    for subtask in scenario.public.subtasks:
        truth = truths[subtask.subtask_id]
        if truth.lexical and len(truth.needs) <= _MOST_FACTS:
            words = _pointers(
                _filled(subtask, truth), truth, facts, retrievers[subtask.subtask_id], spoken_for, outline
            )
            if words:
                draw = outline.stream("pointers", subtask.subtask_id)
                subtask = subtask.model_copy(update={"question": _extended(subtask.question, words, outline, draw)})
        subtasks.append(subtask)
    return replace(scenario, public=scenario.public.model_copy(update={"subtasks": tuple(subtasks)}))


def _pointers(
    question: str,
    truth: SubtaskTruth,
    facts: dict[str, Fact],
    retriever: Retriever,
    spoken_for: frozenset[str],
    outline: Outline,
) -> list[str]:
    """Greedy: one more word of the facts that are not near, whichever brings most of them near."""
    near = _NEAR_HITS[outline.difficulty]
    places = [{place.segment_id for place in facts[name].places} for name in truth.needs]
    chosen: list[str] = []

    def found(words: Sequence[str]) -> tuple[int, int]:
        hits = [hit.segment_id for hit in retriever.search(" ".join([question, *words]), 8)]
        ranks = [min((hits.index(name) for name in each if name in hits), default=len(hits) + 4) for each in places]
        return sum(rank < near for rank in ranks), -sum(ranks)

    best = found(chosen)
    while best[0] < len(places) and len(chosen) < _MOST_WORDS:
        tried = [(found([*chosen, word]), word) for word in _own_words(truth, facts, spoken_for) if word not in chosen]
        if not tried:
            break
        score, word = max(tried, key=lambda each: (each[0], -len(each[1]), each[1]))
        if score <= best:
            break
        chosen.append(word)
        best = score
    return chosen


def _filled(subtask: Subtask, truth: SubtaskTruth) -> str:
    if subtask.slot is None or truth.slot_value is None:
        return subtask.question
    return subtask.question.replace(f"{{{subtask.slot.name}}}", truth.slot_value)


def _own_words(truth: SubtaskTruth, facts: dict[str, Fact], spoken_for: frozenset[str]) -> Iterable[str]:
    spans = [place.text for name in truth.needs for place in facts[name].places[:2]]
    words = dict.fromkeys(word.lower() for span in spans for word in _WORD.findall(span))
    return [word for word in words if word not in spoken_for and word not in terms.STOP_WORDS]


def _retrievers(scenario: Scenario) -> dict[str, Retriever]:
    """By subtask: the search over what its phase lets one read."""
    public = scenario.public
    scopes = [(phase.artifact_ids, phase.subtask_ids) for phase in public.phases]
    if not scopes:
        scopes = [
            (tuple(each.artifact_id for each in public.artifacts), tuple(each.subtask_id for each in public.subtasks))
        ]
    found: dict[str, Retriever] = {}
    for artifact_ids, subtask_ids in scopes:
        segments = [
            (segment.segment_id, segment.text)
            for artifact in public.artifacts
            if artifact.artifact_id in artifact_ids
            for segment in artifact.segments
        ]
        found.update(dict.fromkeys(subtask_ids, Retriever(segments)))
    return found


def _extended(question: str, words: Sequence[str], outline: Outline, draw: Stream) -> str:
    lead = draw.choice(_LEADS[outline.split is Split.TEST])
    return f"{question} {lead.format(', '.join(words))}"
