"""What a plan knows of a scenario: where the facts stand, what the evidence must cover, which results are valid."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from TokenOptEnv.scenario import CacheEntry, CacheValidity, Fact, Scenario, SubtaskTruth
from TokenOptEnv.world import SegmentView, VisibleWorld


@dataclass(frozen=True)
class Knowledge:
    truths: dict[str, SubtaskTruth]
    facts: dict[str, Fact]
    segments: dict[str, SegmentView]
    needed: dict[str, tuple[str, ...]]
    """By subtask: a small set of segments that shows every fact it needs."""
    decisive: dict[str, tuple[str, ...]]
    """By subtask: the facts of its phase that evidence for the fields it yields must cover."""
    path: dict[str, tuple[str, ...]]
    """By subtask: segments that show those."""
    valid_entries: dict[str, CacheEntry]
    """By subtask: an earlier result that still holds and cites all that its fields must rest on."""
    misleading: frozenset[str]
    """Segments that show a decoy."""

    @cached_property
    def used(self) -> frozenset[str]:
        return frozenset(name for names in self.needed.values() for name in names)

    def cover(self, fact_ids: Iterable[str]) -> tuple[str, ...]:
        """A small set of segments that shows these, with preference for those that are used anyway."""
        found = _cover([self.facts[name] for name in fact_ids], self.segments, self.misleading, self.used)
        return tuple(sorted(found))


def know(scenario: Scenario, visible: VisibleWorld) -> Knowledge:
    hidden = scenario.hidden
    facts = {fact.fact_id: fact for fact in hidden.facts}
    segments = {name: view for phase in visible.phases for name, view in phase.segments.items()}
    misleading = frozenset(place.segment_id for decoy in hidden.decoys for place in decoy.places)
    used: set[str] = set()
    needed: dict[str, tuple[str, ...]] = {}
    for truth in hidden.subtasks:
        needed[truth.subtask_id] = _cover([facts[name] for name in truth.needs], segments, misleading, used)
        used.update(needed[truth.subtask_id])
    paths = {field.name: field.path for field in hidden.fields}
    decisive = {
        subtask_id: tuple(
            dict.fromkeys(
                fact_id
                for field in subtask.fields
                for fact_id in paths.get(field, ())
                if any(place.segment_id in phase.segments for place in facts[fact_id].places)
            )
        )
        for phase in visible.phases
        for subtask_id, subtask in phase.subtasks.items()
    }
    return Knowledge(
        truths={truth.subtask_id: truth for truth in hidden.subtasks},
        facts=facts,
        segments=segments,
        needed=needed,
        decisive=decisive,
        path={
            subtask_id: _cover([facts[name] for name in names], segments, misleading, used)
            for subtask_id, names in decisive.items()
        },
        valid_entries={
            entry.subtask_id: entry
            for entry in scenario.public.cache_entries
            if hidden.cache[entry.entry_id] is CacheValidity.VALID
            and all(
                any(place.segment_id in entry.cites for place in facts[name].places)
                for name in decisive[entry.subtask_id]
            )
        },
        misleading=misleading,
    )


def _cover(
    facts: list[Fact], segments: dict[str, SegmentView], misleading: Iterable[str], used: Iterable[str]
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
