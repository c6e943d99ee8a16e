"""What the evidence takes at the least: to read a segment whole, to surface it, to show a bare fact.

What serves several questions is shared out among them, and a segment that shows several facts among those: no choice
of segments can undercut such shares.
"""

from __future__ import annotations

from collections.abc import Iterable

from TokenOptEnv.config import FULL_READ_CAP_TOKENS, PREVIEW_PAGE_SEGMENTS, YARDSTICK, Profile
from TokenOptEnv.models import ModelCard, Slot
from TokenOptEnv.prompt import item_header
from TokenOptEnv.scenario import Fact, Scenario
from TokenOptEnv.simulators import terms, tokens
from TokenOptEnv.simulators.retrieval import SNIPPET_CHARACTERS
from TokenOptEnv.transitions.reading import SNIPPET_CAP_TOKENS, TITLE_CAP_TOKENS
from TokenOptEnv.world import ArtifactView, SegmentView, VisibleWorld, model_tokens, text_tokens

_EDGE_TOKENS = 2
"""Cut out of its line, a span may share so many tokens at either end with its neighbours."""


class Evidence:
    """Of one scenario under one set of options, for all its worlds."""

    def __init__(self, scenario: Scenario, visible: VisibleWorld) -> None:
        self._scenario = scenario
        self._visible = visible
        self._segments = {name: view for phase in visible.phases for name, view in phase.segments.items()}
        self._artifacts = {name: view for phase in visible.phases for name, view in phase.artifacts.items()}
        self._needs = {truth.subtask_id: frozenset(truth.needs) for truth in scenario.hidden.subtasks}
        self.path = frozenset(name for field in scenario.hidden.fields for name in field.path)
        wanted = self.path.union(*self._needs.values())
        self._facts = {fact.fact_id: fact for fact in scenario.hidden.facts if fact.fact_id in wanted}
        self._shows = self.shown_by(wanted)
        self._shares: dict[tuple[str, frozenset[str]], dict[str, int]] = {}
        self.needed_by = {name: max(1, sum(name in facts for facts in self._needs.values())) for name in self._facts}
        """By fact: how many questions need it."""
        self.small = self._facts_at(
            name for name in self._shows if self._artifact_of(name).tokens <= FULL_READ_CAP_TOKENS
        )
        """Facts that reading a small artifact loads at once."""
        self._cites = frozenset(cite for entry in scenario.public.cache_entries for cite in entry.cites)
        self.cited = self._facts_at(self._cites)
        """Facts that looking up an earlier result surfaces."""
        self.glimpsed = frozenset(name for name, fact in self._facts.items() if self._is_glimpsed(fact))
        """Facts that a search result or an outline can show."""
        said = [*self._answers()]
        self.told = frozenset(
            name
            for name, fact in self._facts.items()
            if any(place.text in text for place in fact.places for text in said)
        )
        """Facts that an answer repeats."""
        self.line_tokens = {name: self._line_tokens(name) for name in self._shows}
        """By segment: what surfaces it, as the policy's prompt counts."""
        self.users = {
            name: max(1, sum(bool(facts & shown) for facts in self._needs.values()))
            for name, shown in self._shows.items()
        }
        """By segment: how many questions may use it."""
        self.surfaced_share = {
            name: min(1 / (len(self._shows[place.segment_id]) * self.users[place.segment_id]) for place in fact.places)
            for name, fact in self._facts.items()
        }
        """By fact: its share of a segment to be surfaced."""
        self._loaded = {
            name: share // self.needed_by[name] for name, share in self.whole_shares(visible.controller, wanted).items()
        }
        self._decoys = {
            name: frozenset(
                decoy.decoy_id
                for decoy in scenario.hidden.decoys
                if any(place.text in self._segments[name].text for place in decoy.places)
            )
            for name in self._shows
        }
        self._spans: dict[tuple[str, str], int] = {}
        self.least_read_pico_usd = {name: self._least_read_pico_usd(name) for name in self._facts}
        """By fact: what it takes to have some model read it whole."""

    def shown_by(self, among: frozenset[str]) -> dict[str, frozenset[str]]:
        """By segment: which of these facts it shows."""
        shows: dict[str, set[str]] = {}
        for name in among:
            for place in self._facts[name].places:
                shows.setdefault(place.segment_id, set()).add(name)
        return {segment_id: frozenset(names) for segment_id, names in shows.items()}

    def segment_tokens(self, card: ModelCard, segment_id: str) -> int:
        return model_tokens(card, self._visible.segment_tokens(card.vocabulary, segment_id))

    def is_cited(self, segment_id: str) -> bool:
        return segment_id in self._cites

    def whole_shares(self, card: ModelCard, among: frozenset[str]) -> dict[str, int]:
        """By fact: its share of the shortest segment that shows it, as this model counts."""
        key = (card.model_id, among)
        if key not in self._shares:
            shows = self.shown_by(among)
            self._shares[key] = {
                name: min(
                    self.segment_tokens(card, place.segment_id) // len(shows[place.segment_id])
                    for place in self._facts[name].places
                )
                for name in among
            }
        return self._shares[key]

    def fewest_segments(self, names: list[str]) -> int:
        """That show these."""
        most = max((len(shown) for shown in self.shown_by(frozenset(names)).values()), default=1)
        return -(-len(names) // most)

    def forced_decoys(self, names: Iterable[str]) -> frozenset[str]:
        """Decoys that stand in segments without which one of these facts cannot be read whole."""
        only = [{place.segment_id for place in self._facts[name].places} for name in names]
        return frozenset[str]().union(
            *(self._decoys[segment_id] for ids in only if len(ids) == 1 for segment_id in ids)
        )

    def line_share(self, name: str) -> int:
        """By fact: what surfaces it, shared out among facts and questions."""
        return min(
            self.line_tokens[place.segment_id] // (len(self._shows[place.segment_id]) * self.users[place.segment_id])
            for place in self._facts[name].places
        )

    def loaded_tokens(self, name: str) -> int:
        """As the policy's prompt counts a loaded segment, once for all questions."""
        return self._loaded[name]

    def span_tokens(self, card: ModelCard, name: str) -> int:
        key = (card.model_id, name)
        if key not in self._spans:
            shortest = min(text_tokens(card, place.text) for place in self._facts[name].places)
            self._spans[key] = max(0, shortest - 2 * _EDGE_TOKENS)
        return self._spans[key]

    def _least_read_pico_usd(self, name: str) -> int:
        return min(
            self.whole_shares(card, frozenset(self._facts))[name] * card.input_pico_usd
            for card in self._visible.cards.values()
        )

    def slot_values(self, slot: Slot) -> tuple[str, ...]:
        """What an answer or an earlier result can have put there."""
        hidden, public = self._scenario.hidden, self._scenario.public
        said = [
            candidate.values
            for truth in hidden.subtasks
            if truth.subtask_id == slot.from_subtask_id
            for candidate in truth.candidates
        ]
        said += [entry.values for entry in public.cache_entries if entry.subtask_id == slot.from_subtask_id]
        return tuple(dict.fromkeys(values[slot.name] for values in said if values.get(slot.name)))

    def _answers(self) -> Iterable[str]:
        for truth in self._scenario.hidden.subtasks:
            for candidate in truth.candidates:
                yield "; ".join(f"{name}={value}" for name, value in candidate.values.items()) + "\n" + candidate.text
        for entry in self._scenario.public.cache_entries:
            yield "; ".join(f"{name}={value}" for name, value in entry.values.items()) + "\n" + entry.text

    def _facts_at(self, segment_ids: Iterable[str]) -> frozenset[str]:
        return frozenset[str]().union(*(self._shows.get(name, ()) for name in segment_ids))

    def _artifact_of(self, segment_id: str) -> ArtifactView:
        return self._artifacts[self._segments[segment_id].artifact_id]

    def _is_glimpsed(self, fact: Fact) -> bool:
        for place in fact.places:
            view = self._segments[place.segment_id]
            if place.text in tokens.clip(YARDSTICK, view.title, TITLE_CAP_TOKENS):
                return True
            if self._visible.config.profile is Profile.V1:
                continue
            for line in view.text.split("\n"):
                if place.text not in line:
                    continue
                if len(line) > SNIPPET_CHARACTERS:
                    if tokens.count(YARDSTICK, place.text) <= SNIPPET_CAP_TOKENS + 2 * _EDGE_TOKENS:
                        return True
                elif place.text in tokens.clip(YARDSTICK, line.strip(), SNIPPET_CAP_TOKENS):
                    return True
        return False

    def _line_tokens(self, segment_id: str) -> int:
        """The shortest way to surface it: a hit, its share of an outline's page, or the segment itself."""
        view, artifact, card = self._segments[segment_id], self._artifact_of(segment_id), self._visible.controller
        if artifact.tokens <= FULL_READ_CAP_TOKENS:
            found = [text_tokens(card, item_header(1, view.label)) + self.segment_tokens(card, segment_id)]
        else:
            start = artifact.segments.index(view) // PREVIEW_PAGE_SEGMENTS * PREVIEW_PAGE_SEGMENTS
            page = artifact.segments[start : start + PREVIEW_PAGE_SEGMENTS]
            wanted = sum(each.segment_id in self._shows for each in page)
            found = [sum(self._outline_tokens(each) for each in page) // wanted]
        if self._visible.config.profile is Profile.V2:
            found.append(self._hit_tokens(view))
        return min(found)

    def _outline_tokens(self, view: SegmentView) -> int:
        title = tokens.clip(YARDSTICK, view.title, TITLE_CAP_TOKENS)
        return text_tokens(self._visible.controller, f"1 {view.tokens}t {title}\n")

    def _hit_tokens(self, view: SegmentView) -> int:
        """With the shortest line that a query can find in it."""
        card = self._visible.controller
        place = f"1 {view.label} {view.tokens}t"
        found = []
        for line in dict.fromkeys(view.text.split("\n")):
            if len(line) > SNIPPET_CHARACTERS:
                found.append(text_tokens(card, place))
            elif terms.distinct(line):
                snippet = tokens.clip(YARDSTICK, line.strip(), SNIPPET_CAP_TOKENS)
                found.append(text_tokens(card, f"{place} {snippet}\n"))
        return min(found, default=text_tokens(card, place))
