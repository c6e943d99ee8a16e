"""How to get segments surfaced when one knows which they are: few searches that hit many, or a preview page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from TokenOptEnv.config import FULL_READ_CAP_TOKENS, PREVIEW_PAGE_SEGMENTS, SEARCH_MAX_TOP_K, Profile
from TokenOptEnv.models import ActionType, TokenOptEnvAction
from TokenOptEnv.plans.program import Do
from TokenOptEnv.simulators import terms
from TokenOptEnv.world import PhaseView

_MOST_WORDS = 10
"""A query must fit a short action."""
_LARGEST_GROUP = 3


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
        self._searched: dict[str, tuple[str, ...]] = {}

    def covers(self, wanted: Sequence[str]) -> list[tuple[Do, ...]]:
        """Some ways to surface all of `wanted`, each a sequence of reading actions."""
        if not wanted:
            return [()]
        found: list[tuple[Do, ...]] = []
        if self._profile is Profile.V2:
            together = self._one_search(tuple(wanted))
            if together is not None:
                found.append((together,))
            found.append(self._by_searches(wanted))
        found.append(self._by_pages(wanted))
        return [cover for place, cover in enumerate(found) if cover not in found[:place]]

    def _by_searches(self, wanted: Sequence[str]) -> tuple[Do, ...]:
        """Greedy: the query that hits most of what is left; a page of the outline where no query hits anything."""
        left = list(wanted)
        steps: list[Do] = []
        while left:
            best: tuple[int, int, str] | None = None
            for query in self._queries(left):
                places = [place for place, name in enumerate(self._hits(query)) if name in left]
                if places:
                    rank = (-len(places), places[-1] + len(query.split()), query)
                    best = rank if best is None else min(best, rank)
            if best is None:
                steps += self._by_pages(left[:1])
                left = left[1:]
                continue
            hits = self._hits(best[2])
            top_k = max(place for place, name in enumerate(hits) if name in left) + 1
            steps.append(_search(best[2], top_k))
            left = [name for name in left if name not in hits[:top_k]]
        return tuple(steps)

    def _queries(self, left: Sequence[str]) -> Iterator[str]:
        """Words that many of them share and few others hold; and the rarest words of small groups."""
        shared = Counter(word for name in left for word in self._words[name])
        ranked = sorted(shared, key=lambda word: (-(shared[word] ** 2) / self._spread[word], word))
        for count in (1, 2, 3):
            yield " ".join(ranked[:count])
        yield from ranked[1:12]
        for size in range(min(len(left), _LARGEST_GROUP), 0, -1):
            for group in combinations(left[:6], size):
                for count in (1, 2):
                    yield self._rare(group, count)

    def _one_search(self, group: tuple[str, ...]) -> Do | None:
        """The search with the fewest words and hits that surfaces the whole group."""
        for count in (1, 2, 3):
            query = self._rare(group, count)
            if len(query.split()) > _MOST_WORDS:
                return None
            hits = self._hits(query)
            if all(name in hits for name in group):
                return _search(query, max(hits.index(name) for name in group) + 1)
        return None

    def _rare(self, group: Sequence[str], count: int) -> str:
        words: dict[str, None] = {}
        for name in group:
            rare = sorted(self._words[name], key=lambda word: (self._spread[word], len(word), word))
            words.update(dict.fromkeys(rare[:count]))
        return " ".join(words)

    def _hits(self, query: str) -> tuple[str, ...]:
        if query not in self._searched:
            found = self._phase.retriever.search(query, SEARCH_MAX_TOP_K)
            self._searched[query] = tuple(hit.segment_id for hit in found)
        return self._searched[query]

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


def _search(query: str, top_k: int) -> Do:
    return Do(TokenOptEnvAction(action_type=ActionType.SEARCH_ARTIFACTS, query=query, top_k=top_k))
