"""Where each fact can be seen: in which segments, and by what else than reading them.

A model sees a fact wherever its text stands, but an answer is grounded only by the segments it is a fact of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from TokenOptEnv.config import FULL_READ_CAP_TOKENS, YARDSTICK, Profile
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.simulators import tokens
from TokenOptEnv.simulators.retrieval import SNIPPET_CHARACTERS
from TokenOptEnv.transitions.reading import SNIPPET_CAP_TOKENS, TITLE_CAP_TOKENS
from TokenOptEnv.world import SegmentView, VisibleWorld

_EDGE_TOKENS = 4
"""What a vocabulary may count more or less at the two ends of a span that is cut out of its line."""


class Sightings:
    def __init__(self, scenario: Scenario, visible: VisibleWorld) -> None:
        self._searches = visible.config.profile is Profile.V2
        self.segments = {name: view for phase in visible.phases for name, view in phase.segments.items()}
        self.artifacts = {name: view for phase in visible.phases for name, view in phase.artifacts.items()}
        needs = {truth.subtask_id: frozenset(truth.needs) for truth in scenario.hidden.subtasks}
        self.path = frozenset(name for field in scenario.hidden.fields for name in field.path)
        """Facts that the evidence must cover."""
        wanted = self.path.union(*needs.values())
        facts = {fact.fact_id: fact for fact in scenario.hidden.facts if fact.fact_id in wanted}
        self.texts = {name: tuple(dict.fromkeys(place.text for place in fact.places)) for name, fact in facts.items()}
        self.places = {name: frozenset(place.segment_id for place in fact.places) for name, fact in facts.items()}
        """By fact: the segments that ground it."""
        self.shown_in = {name: self._holding(texts) for name, texts in self.texts.items()}
        """By fact: the segments that show it."""
        self.shows = _inverted(self.shown_in)
        """By segment that shows any: which facts."""
        self.needed_by = {name: max(1, sum(name in each for each in needs.values())) for name in facts}
        """By fact: how many questions need it."""
        self.users = {
            name: max(1, sum(bool(each & shown) for each in needs.values())) for name, shown in self.shows.items()
        }
        """By segment: how many questions may use it."""
        self.small = frozenset(
            name
            for name in self.shows
            if self.artifacts[self.segments[name].artifact_id].tokens <= FULL_READ_CAP_TOKENS
        )
        """Segments that are loaded by reading their artifact."""
        self.cited = frozenset(cite for entry in scenario.public.cache_entries for cite in entry.cites)
        """Segments that looking up an earlier result surfaces."""
        self.glimpsed = frozenset(name for name in facts if self._is_glimpsed(name))
        """Facts that a search result or an outline can show."""
        said = tuple(_answers(scenario))
        self.told = frozenset(
            name for name, texts in self.texts.items() if any(text in answer for text in texts for answer in said)
        )
        """Facts that an answer repeats."""
        self._decoys = {
            name: frozenset(
                decoy.decoy_id
                for decoy in scenario.hidden.decoys
                if any(place.text in self.segments[name].text for place in decoy.places)
            )
            for name in self.shows
        }

    def forced_decoys(self, names: Iterable[str]) -> frozenset[str]:
        """Decoys in segments without which one of these facts cannot be read whole."""
        alone = [self.shown_in[name] for name in names if len(self.shown_in[name]) == 1]
        return frozenset[str]().union(*(self._decoys[segment_id] for ids in alone for segment_id in ids))

    def _holding(self, texts: tuple[str, ...]) -> frozenset[str]:
        return frozenset(name for name, view in self.segments.items() if any(text in view.text for text in texts))

    def _is_glimpsed(self, name: str) -> bool:
        return any(
            _quotes(self.segments[segment_id], text, self._searches)
            for segment_id in self.shown_in[name]
            for text in self.texts[name]
        )


def _quotes(view: SegmentView, text: str, searches: bool) -> bool:
    """Can an outline or a search result show this text of this segment?"""
    if text in tokens.clip(YARDSTICK, view.title, TITLE_CAP_TOKENS):
        return True
    for line in view.text.split("\n") if searches else ():
        if text not in line:
            continue
        if len(line) > SNIPPET_CHARACTERS:
            if tokens.count(YARDSTICK, text) <= SNIPPET_CAP_TOKENS + _EDGE_TOKENS:
                return True
        elif text in tokens.clip(YARDSTICK, line.strip(), SNIPPET_CAP_TOKENS):
            return True
    return False


def _answers(scenario: Scenario) -> Iterator[str]:
    """Everything that a finding can say."""
    for truth in scenario.hidden.subtasks:
        for candidate in truth.candidates:
            yield _said(candidate.values, candidate.text)
    for entry in scenario.public.cache_entries:
        yield _said(entry.values, entry.text)


def _said(values: Mapping[str, str], text: str) -> str:
    return "; ".join(f"{name}={value}" for name, value in values.items()) + "\n" + text


def _inverted(shown_in: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    shows: dict[str, set[str]] = {}
    for name, segment_ids in shown_in.items():
        for segment_id in segment_ids:
            shows.setdefault(segment_id, set()).add(name)
    return {segment_id: frozenset(names) for segment_id, names in shows.items()}
