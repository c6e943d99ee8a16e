"""How to get segments surfaced when one knows which they are: few searches that hit many, or a page of an outline.

A search is also a way to show things: what it quotes of a segment can be handed on as it stands. So a query can be
asked to quote given texts, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from TokenOptEnv.config import (
    FULL_READ_CAP_TOKENS,
    PREVIEW_CAP_TOKENS,
    PREVIEW_PAGE_SEGMENTS,
    SEARCH_MAX_TOP_K,
    YARDSTICK,
)
from TokenOptEnv.plans.program import Read, Search
from TokenOptEnv.simulators import terms, tokens
from TokenOptEnv.transitions.reading import SNIPPET_CAP_TOKENS
from TokenOptEnv.world import PhaseView

_MOST_WORDS = 10
"""A query must fit a short action."""
_RARE_WORDS = 4
_SHARED_WORDS = 8
_HIT_TOKENS = 12
"""Of a hit's line, besides what it quotes."""
_PROMPTS_HELD = 3
_WRITTEN_TO_READ = 8
"""What a token costs to write, in tokens read."""
_STEP_TOKENS = 700
"""What a step takes besides."""

Steps: TypeAlias = tuple[Read | Search, ...]
QueryFor: TypeAlias = Callable[[tuple[str, ...], tuple[str, ...]], str]


@dataclass(frozen=True, slots=True)
class _Result:
    """What a query finds: segments in order, and what it quotes of each."""

    segment_ids: tuple[str, ...]
    quotes: tuple[str, ...]

    def reach(self, wanted: Sequence[str], texts: Sequence[str]) -> tuple[int, int]:
        """How many of these it surfaces or quotes, and how many hits that takes."""
        places = [self.segment_ids.index(name) for name in wanted if name in self.segment_ids]
        for text in texts:
            place = next((place for place, quote in enumerate(self.quotes) if text in quote), None)
            if place is not None:
                places.append(place)
        return len(places), max(places, default=-1) + 1


class Surfacer:
    """Finds cheap ways to surface given segments in one phase."""

    def __init__(self, phase: PhaseView, searches: bool) -> None:
        self._phase = phase
        self._searches = searches
        self._words = {
            segment_id: [term for term in terms.distinct(view.text) if term.isalnum() and len(term) > 2]
            for segment_id, view in phase.segments.items()
        }
        self._spread = Counter(term for words in self._words.values() for term in words)
        self._results: dict[str, _Result] = {}
        self._covers: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Steps]] = {}

    def covers(self, wanted: Iterable[str], texts: Iterable[str] = ()) -> list[Steps]:
        """Some ways to surface all of `wanted` and to quote all of `texts`, each a sequence of readings.

        Where no search can quote a text there is none.
        """
        key = (tuple(sorted(set(wanted))), tuple(sorted(set(texts))))
        if key not in self._covers:
            self._covers[key] = self._ways(*key)
        return self._covers[key]

    def _ways(self, wanted: tuple[str, ...], texts: tuple[str, ...]) -> list[Steps]:
        if not wanted and not texts:
            return [()]
        found: list[Steps] = []
        if self._searches:
            found += [self._by_searches(wanted, texts, query) for query in (self._grown, self._rarest)]
        if not texts:
            found += [self._by_pages(wanted), self._by_whole(wanted)]
        differing = [cover for place, cover in enumerate(found) if cover and cover not in found[:place]]
        return sorted(differing, key=self._rough_tokens)

    def _by_searches(self, wanted: tuple[str, ...], texts: tuple[str, ...], query_for: QueryFor) -> Steps:
        """Until all is reached; a page of the outline for what no query reaches."""
        steps: list[Read | Search] = []
        while wanted or texts:
            query = query_for(wanted, texts)
            result = self._result(query)
            reached, top_k = result.reach(wanted, texts)
            if not reached:
                if not wanted:
                    return ()
                steps += self._by_pages(wanted[:1])
                wanted = wanted[1:]
                continue
            steps.append(Search(query, top_k))
            wanted = tuple(name for name in wanted if name not in result.segment_ids[:top_k])
            texts = tuple(text for text in texts if not any(text in quote for quote in result.quotes[:top_k]))
        return tuple(steps)

    def _rarest(self, wanted: tuple[str, ...], texts: tuple[str, ...]) -> str:
        """The rarest word of each, as many as fit."""
        words: dict[str, None] = {}
        for held in (*(self._words[name] for name in wanted), *self._quoted(texts)):
            words.update(dict.fromkeys(self._rare(held)[:1]))
        return " ".join(list(words)[:_MOST_WORDS])

    def _grown(self, wanted: tuple[str, ...], texts: tuple[str, ...]) -> str:
        """Word by word, as long as one more reaches more; then without those that turned out idle."""
        pool = self._pool(wanted, texts)
        words: list[str] = []
        best = (0, 0)
        while len(_joined(words).split()) < _MOST_WORDS and best[0] < len(wanted) + len(texts):
            scored = [(self._score([*words, word], wanted, texts), word) for word in pool if word not in words]
            score, word = max(scored, key=lambda each: each[0], default=(best, ""))
            if score[0] <= best[0]:
                break
            best = score
            words.append(word)
        for word in tuple(words):
            fewer = [each for each in words if each != word]
            score = self._score(fewer, wanted, texts)
            if score >= best:
                words, best = fewer, score
        return _joined(words)

    def _score(self, words: list[str], wanted: tuple[str, ...], texts: tuple[str, ...]) -> tuple[int, int]:
        """How much it reaches; then how little it takes."""
        query = _joined(words)
        reached, top_k = self._result(query).reach(wanted, texts)
        return reached, -self._search_tokens(query, top_k)

    def _search_tokens(self, query: str, top_k: int) -> int:
        """What a search takes, to be written once and to be held for some prompts, in tokens read."""
        shown = sum(_HIT_TOKENS + tokens.count(YARDSTICK, quote) for quote in self._result(query).quotes[:top_k])
        return _PROMPTS_HELD * shown + _WRITTEN_TO_READ * tokens.count(YARDSTICK, query)

    def _rough_tokens(self, steps: Steps) -> int:
        total = 0
        for step in steps:
            total += _STEP_TOKENS
            if isinstance(step, Search):
                total += self._search_tokens(step.query, step.top_k)
            else:
                whole = self._phase.artifacts[step.artifact_id].tokens
                total += _PROMPTS_HELD * (whole if whole <= FULL_READ_CAP_TOKENS else PREVIEW_CAP_TOKENS)
        return total

    def _pool(self, wanted: tuple[str, ...], texts: tuple[str, ...]) -> list[str]:
        """Words that many of them share and few others hold; the rarest of each; and pairs that single a line out."""
        quoted = self._quoted(texts)
        shared = Counter(word for name in wanted for word in self._words[name])
        shared.update(word for words in quoted for word in words)
        ranked = sorted(shared, key=lambda word: (-(shared[word] ** 2) / self._spread[word], word))
        pool = dict.fromkeys(ranked[:_SHARED_WORDS])
        for words in (*(self._words[name] for name in wanted), *quoted):
            pool.update(dict.fromkeys(self._rare(words)[:_RARE_WORDS]))
        for words in quoted:
            pool.update(dict.fromkeys(" ".join(pair) for pair in combinations(self._rare(words)[:_RARE_WORDS], 2)))
        return list(pool)

    def _quoted(self, texts: tuple[str, ...]) -> list[list[str]]:
        return [[term for term in terms.distinct(text) if term in self._spread] for text in texts]

    def _rare(self, words: list[str]) -> list[str]:
        return sorted(words, key=lambda word: (self._spread[word], tokens.count(YARDSTICK, word), word))

    def _result(self, query: str) -> _Result:
        if query not in self._results:
            hits = self._phase.retriever.search(query, SEARCH_MAX_TOP_K) if query else ()
            self._results[query] = _Result(
                tuple(hit.segment_id for hit in hits),
                tuple(tokens.clip(YARDSTICK, hit.snippet, SNIPPET_CAP_TOKENS) for hit in hits),
            )
        return self._results[query]

    def _by_pages(self, wanted: Sequence[str]) -> Steps:
        pages: dict[Read, None] = {}
        for segment_id in wanted:
            view = self._phase.segments[segment_id]
            artifact = self._phase.artifacts[view.artifact_id]
            whole = artifact.tokens <= FULL_READ_CAP_TOKENS
            page = 1 if whole else artifact.segments.index(view) // PREVIEW_PAGE_SEGMENTS + 1
            pages[Read(view.artifact_id, page)] = None
        return tuple(pages)

    def _by_whole(self, wanted: tuple[str, ...]) -> Steps:
        """Small artifacts read whole, the rest searched for."""
        small = self._phase.small_artifacts
        inside = {name for name in wanted if self._phase.segments[name].artifact_id in small}
        if not inside or not self._searches:
            return ()
        rest = tuple(name for name in wanted if name not in inside)
        return (*self._by_pages(sorted(inside)), *self._by_searches(rest, (), self._grown))


def _joined(words: Iterable[str]) -> str:
    """Each word once, though pairs may share one."""
    return " ".join(dict.fromkeys(word for each in words for word in each.split()))
