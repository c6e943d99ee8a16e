"""What a plan knows of a scenario: where the facts stand, what the evidence must cover, which results are valid."""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.scenario import CacheEntry, CacheValidity, Fact, Scenario, SubtaskTruth
from TokenOptEnv.world import SegmentView, VisibleWorld


@dataclass(frozen=True)
class Knowledge:
    truths: dict[str, SubtaskTruth]
    segments: dict[str, SegmentView]
    needed: dict[str, tuple[str, ...]]
    """By subtask: a small set of segments that shows every fact it needs."""
    path: dict[str, tuple[str, ...]]
    """By subtask: the segments that evidence for the fields it yields must cover."""
    clues: dict[str, tuple[str, ...]]
    """By segment: the texts of the facts it shows."""
    valid_entries: dict[str, CacheEntry]
    """By subtask: an earlier result that still holds and cites all that its fields must rest on."""


def know(scenario: Scenario, visible: VisibleWorld) -> Knowledge:
    hidden = scenario.hidden
    facts = {fact.fact_id: fact for fact in hidden.facts}
    segments = {name: view for phase in visible.phases for name, view in phase.segments.items()}
    misleading = {place.segment_id for decoy in hidden.decoys for place in decoy.places}
    used: set[str] = set()
    needed: dict[str, tuple[str, ...]] = {}
    for truth in hidden.subtasks:
        needed[truth.subtask_id] = _cover([facts[name] for name in truth.needs], segments, misleading, used)
        used.update(needed[truth.subtask_id])
    paths = {field.name: field.path for field in hidden.fields}
    decisive = {
        subtask.subtask_id: tuple(dict.fromkeys(fact for name in subtask.fields for fact in paths.get(name, ())))
        for subtask in scenario.public.subtasks
    }
    path = {
        subtask_id: _cover([facts[name] for name in names], segments, misleading, used)
        for subtask_id, names in decisive.items()
    }
    clues: dict[str, list[str]] = {}
    for fact in hidden.facts:
        for place in fact.places:
            clues.setdefault(place.segment_id, []).append(place.text)
    return Knowledge(
        truths={truth.subtask_id: truth for truth in hidden.subtasks},
        segments=segments,
        needed=needed,
        path=path,
        clues={name: tuple(texts) for name, texts in clues.items()},
        valid_entries={
            entry.subtask_id: entry
            for entry in scenario.public.cache_entries
            if hidden.cache[entry.entry_id] is CacheValidity.VALID
            and all(
                any(place.segment_id in entry.cites for place in facts[name].places)
                for name in decisive[entry.subtask_id]
            )
        },
    )


def _cover(
    facts: list[Fact], segments: dict[str, SegmentView], misleading: set[str], used: set[str]
) -> tuple[str, ...]:
    """Greedy: the segment that shows most of what is left; shared ones, ones without decoys and short ones first."""
    left = list(facts)
    chosen: list[str] = []
    while left:
        shows: dict[str, int] = {}
        for fact in left:
            for name in dict.fromkeys(place.segment_id for place in fact.places):
                shows[name] = shows.get(name, 0) + 1
        pick = min(
            shows,
            key=lambda name: (-shows[name], name in misleading, name not in used, segments[name].tokens, name),
        )
        chosen.append(pick)
        left = [fact for fact in left if all(place.segment_id != pick for place in fact.places)]
    return tuple(chosen)
