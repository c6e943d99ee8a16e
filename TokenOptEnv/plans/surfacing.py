"""How to get segments surfaced when one knows which they are: few searches that hit many, or a preview page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from TokenOptEnv.config import FULL_READ_CAP_TOKENS, PREVIEW_PAGE_SEGMENTS, SEARCH_MAX_TOP_K, Profile
from TokenOptEnv.models import ActionType, TokenOptEnvAction
from TokenOptEnv.plans.program import Do
from TokenOptEnv.simulators import terms
from TokenOptEnv.world import PhaseView

_WORDS_PER_SEGMENT = (1, 2, 3)
_MOST_WORDS = 10
"""A query must fit a short action."""
_SMALL_GROUPS = 3


class Surfacer:
    """Finds cheap ways to surface given segments in one phase."""

    def __init__(self, phase: PhaseView, profile: Profile) -> None:
        self._phase = phase
        self._profile = profile
        self._words = {
            segment_id: [term for term in terms.distinct(view.text) if term.isalnum() and len(term) > 2]
            for segment_id, view in phase.segments.items()
        }
        self._spread = Counter(term for words in self._words.values() for term in words)

    def covers(self, wanted: Sequence[str]) -> list[tuple[Do, ...]]:
        """Some ways to surface all of `wanted`, each a sequence of reading actions."""
        if not wanted:
            return [()]
        found: list[tuple[Do, ...]] = []
        if self._profile is Profile.V2:
            together = self._search(tuple(wanted))
            if together is not None:
                found.append((together,))
            found.append(self._by_groups(wanted))
        found.append(self._by_pages(wanted))
        return [cover for place, cover in enumerate(found) if cover not in found[:place]]

    def _by_groups(self, wanted: Sequence[str]) -> tuple[Do, ...]:
        """Greedy: the largest group that one search can hit, then the rest."""
        left = list(wanted)
        steps: list[Do] = []
        while left:
            chosen, search = self._largest_hit(left)
            if search is None:
                steps += self._by_pages(chosen)
            else:
                steps.append(search)
            left = [segment_id for segment_id in left if segment_id not in chosen]
        return tuple(steps)

    def _largest_hit(self, left: list[str]) -> tuple[tuple[str, ...], Do | None]:
        for size in range(min(len(left), _SMALL_GROUPS), 0, -1):
            for group in combinations(left, size):
                search = self._search(group)
                if search is not None:
                    return group, search
        return (left[0],), None

    def _search(self, group: tuple[str, ...]) -> Do | None:
        """The search with the fewest words and hits that surfaces the whole group."""
        for count in _WORDS_PER_SEGMENT:
            words: dict[str, None] = {}
            for segment_id in group:
                rare = sorted(self._words[segment_id], key=lambda word: (self._spread[word], len(word), word))
                words.update(dict.fromkeys(rare[:count]))
            if len(words) > _MOST_WORDS:
                return None
            query = " ".join(words)
            hits = [hit.segment_id for hit in self._phase.retriever.search(query, SEARCH_MAX_TOP_K)]
            if all(segment_id in hits for segment_id in group):
                top_k = max(hits.index(segment_id) for segment_id in group) + 1
                return Do(TokenOptEnvAction(action_type=ActionType.SEARCH_ARTIFACTS, query=query, top_k=top_k))
        return None

    def _by_pages(self, wanted: Sequence[str]) -> tuple[Do, ...]:
        pages: dict[tuple[str, int], None] = {}
        for segment_id in wanted:
            view = self._phase.segments[segment_id]
            artifact = self._phase.artifacts[view.artifact_id]
            place = next(n for n, each in enumerate(artifact.segments) if each.segment_id == segment_id)
            whole = artifact.tokens <= FULL_READ_CAP_TOKENS
            pages[view.artifact_id, 1 if whole else place // PREVIEW_PAGE_SEGMENTS + 1] = None
        return tuple(
            Do(
                TokenOptEnvAction(
                    action_type=ActionType.READ_ARTIFACT, artifact_id=artifact_id, page=None if page == 1 else page
                )
            )
            for artifact_id, page in pages
        )
