"""What the evidence takes at the least: to read a segment whole, to surface it, to show a bare fact.

What serves several questions is shared out among them, and a segment that shows several facts among those: no choice
of segments can undercut such shares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from math import ceil

from TokenOptEnv.config import FULL_READ_CAP_TOKENS, PREVIEW_PAGE_SEGMENTS, SEARCH_MAX_TOP_K, YARDSTICK, Profile
from TokenOptEnv.models import ModelCard
from TokenOptEnv.plans.bound.sightings import Sightings
from TokenOptEnv.prompt import item_header
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.simulators import terms, tokens
from TokenOptEnv.simulators.retrieval import SNIPPET_CHARACTERS
from TokenOptEnv.transitions.reading import SNIPPET_CAP_TOKENS, TITLE_CAP_TOKENS
from TokenOptEnv.world import SegmentView, VisibleWorld, model_tokens, text_tokens

_EDGE_TOKENS = 4
"""What a span may share with its neighbours: at either end, two tokens."""


class Evidence:
    """Of one scenario under one set of options, for all its worlds."""

    def __init__(self, scenario: Scenario, visible: VisibleWorld) -> None:
        self._visible = visible
        self.seen = Sightings(scenario, visible)
        self._all = frozenset(self.seen.texts)
        self._shares: dict[tuple[str, frozenset[str]], dict[str, int]] = {}
        self._spans: dict[tuple[str, str], int] = {}
        self._lines: dict[str, int] = {}
        self.most_surfaced = max(
            [SEARCH_MAX_TOP_K, PREVIEW_PAGE_SEGMENTS]
            + [len(names) for phase in visible.phases for names in phase.small_artifacts.values()]
        )
        """By one step that is not a look-up of earlier results."""
        self.least_read_pico_usd = {
            name: min(self._grounding_tokens(card, name) * card.input_pico_usd for card in visible.cards.values())
            for name in self.seen.path
        }
        """By fact of the path: what it takes to have some model read it whole."""

    def segment_tokens(self, card: ModelCard, segment_id: str) -> int:
        return model_tokens(card, self._visible.segment_tokens(card.vocabulary, segment_id))

    def whole_shares(self, card: ModelCard, among: frozenset[str]) -> dict[str, int]:
        """By fact: its share of the shortest segment that shows it, as this model counts."""
        key = (card.model_id, among)
        if key not in self._shares:
            self._shares[key] = {
                name: min(
                    self.segment_tokens(card, segment_id) // len(among & self.seen.shows[segment_id])
                    for segment_id in self.seen.shown_in[name]
                )
                for name in among
            }
        return self._shares[key]

    def loaded_tokens(self, name: str) -> int:
        """To show it from memory: its share of a segment in the policy's prompt, once for all questions."""
        return self.whole_shares(self._visible.controller, self._all)[name] // self.seen.needed_by[name]

    def loaded_to_ground_tokens(self, name: str) -> int:
        """The same, of a segment that grounds it."""
        return self._grounding_tokens(self._visible.controller, name) // self.seen.needed_by[name]

    def line_share(self, name: str) -> int:
        """By fact: what surfaces it, shared out among facts and questions."""
        return min(
            self.line_tokens(segment_id) // (len(self.seen.shows[segment_id]) * self.seen.users[segment_id])
            for segment_id in self.seen.shown_in[name]
        )

    def surfaced_share(self, name: str, cites_free: bool) -> float:
        """By fact: its share of a segment to be surfaced."""
        return min(
            0.0
            if cites_free and segment_id in self.seen.cited
            else 1 / (len(self.seen.shows[segment_id]) * self.seen.users[segment_id])
            for segment_id in self.seen.shown_in[name]
        )

    def span_tokens(self, card: ModelCard, name: str) -> int:
        key = (card.model_id, name)
        if key not in self._spans:
            shortest = min(text_tokens(card, text) for text in self.seen.texts[name])
            self._spans[key] = max(0, shortest - _EDGE_TOKENS)
        return self._spans[key]

    def fewest_grounding(self, names: Collection[str]) -> int:
        """How many segments it takes at the least to ground these."""
        counts = Counter(segment_id for name in names for segment_id in self.seen.places[name])
        return ceil(len(names) / max(counts.values(), default=1))

    def grounding_segments(self, cites_free: bool) -> float:
        """How many must be surfaced so that the path can be read, at the least."""
        counts = Counter(segment_id for name in self.seen.path for segment_id in self.seen.places[name])
        return sum(
            min(
                0.0 if cites_free and segment_id in self.seen.cited else 1 / counts[segment_id]
                for segment_id in self.seen.places[name]
            )
            for name in self.seen.path
        )

    def is_cited(self, name: str) -> bool:
        return not self.seen.cited.isdisjoint(self.seen.shown_in[name])

    def is_small(self, name: str) -> bool:
        """Does reading a small artifact load what shows it?"""
        return not self.seen.small.isdisjoint(self.seen.shown_in[name])

    def grounds_small(self, name: str) -> bool:
        return not self.seen.small.isdisjoint(self.seen.places[name])

    def _grounding_tokens(self, card: ModelCard, name: str) -> int:
        return min(
            self.segment_tokens(card, segment_id) // len(self.seen.shows[segment_id])
            for segment_id in self.seen.places[name]
        )

    def line_tokens(self, segment_id: str) -> int:
        """What surfaces a segment, as the policy's prompt counts."""
        if segment_id not in self._lines:
            self._lines[segment_id] = self._shortest_line(segment_id)
        return self._lines[segment_id]

    def _shortest_line(self, segment_id: str) -> int:
        """A hit, its share of an outline's page, or the segment itself."""
        view, card = self.seen.segments[segment_id], self._visible.controller
        artifact = self.seen.artifacts[view.artifact_id]
        if artifact.tokens <= FULL_READ_CAP_TOKENS:
            found = [text_tokens(card, item_header(1, view.label)) + self.segment_tokens(card, segment_id)]
        else:
            start = artifact.segments.index(view) // PREVIEW_PAGE_SEGMENTS * PREVIEW_PAGE_SEGMENTS
            page = artifact.segments[start : start + PREVIEW_PAGE_SEGMENTS]
            wanted = sum(each.segment_id in self.seen.shows for each in page)
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
