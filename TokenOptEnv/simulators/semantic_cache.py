"""The semantic cache: which earlier question is the new one like?

A question is a sparse vector: its stems, their groups of synonyms, and the character trigrams of its words, which
forgive spelling and compounds (`backpressure`, `back-pressure`). Each feature weighs its kind's share times its idf
over the entries, so what every cached question says tells little. An entry is its question plus, at a fifth of the
weight, its result's text. Similarity is the cosine; below `FLOOR` two questions share little more than their manner of
asking, and nothing is returned.

How near a question is says nothing about whether its result still holds: version and age do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from math import log, sqrt
from operator import itemgetter
from typing import NamedTuple

from TokenOptEnv.scenario import CacheEntry
from TokenOptEnv.simulators import terms
from TokenOptEnv.simulators.stems import concept, stem

FLOOR = 0.30
_STEM_WEIGHT = 1.0
_CONCEPT_WEIGHT = 0.9
_TRIGRAM_WEIGHT = 0.25
_TEXT_SHARE = 0.2


class Match(NamedTuple):
    entry: CacheEntry
    similarity: float
    """Between 0 and 1, to four decimals."""


class _Share(NamedTuple):
    """What one feature of a question adds."""

    square: float
    """To the question's norm."""
    products: tuple[tuple[int, float], ...]
    """To its product with each entry that has the feature too."""


_square = itemgetter(0)


class SemanticCache:
    def __init__(self, entries: Sequence[CacheEntry]) -> None:
        self._entries = tuple(entries)
        bags = [_bag([(entry.question, 1.0), (entry.text, _TEXT_SHARE)]) for entry in self._entries]
        spread: dict[str, int] = {}
        for bag in bags:
            for feature in bag:
                spread[feature] = spread.get(feature, 0) + 1
        self._unseen_idf = log(2 + len(bags))
        self._idf = {feature: log(1 + (1 + len(bags)) / (1 + seen)) for feature, seen in spread.items()}
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for index, bag in enumerate(bags):
            weighted = {feature: weight * self._idf[feature] for feature, weight in bag.items()}
            norm = _norm(weighted.values())
            for feature, weight in weighted.items():
                self._postings.setdefault(feature, []).append((index, weight * self._idf[feature] / norm))

    def nearest(self, query: str, limit: int = 2) -> tuple[Match, ...]:
        """The most similar entries above the floor, nearest first; equals in the order of the entries."""
        shares = dict(chain.from_iterable([self._shares(term) for term in terms.distinct(query)])).values()
        norm = sqrt(sum(map(_square, shares))) or 1.0
        products = [0.0] * len(self._entries)
        for _, found in shares:
            for index, product in found:
                products[index] += product
        scored = [(min(1.0, round(product / norm, 4)), -index) for index, product in enumerate(products)]
        best = sorted([pair for pair in scored if pair[0] >= FLOOR], reverse=True)[: max(0, limit)]
        return tuple([Match(self._entries[-index], similarity) for similarity, index in best])

    def _shares(self, term: str) -> tuple[tuple[str, _Share], ...]:
        return _kept_shares(self, term) if len(term) <= terms.LONGEST_KEPT else self.made_shares(term)

    def made_shares(self, term: str) -> tuple[tuple[str, _Share], ...]:
        """What each feature of a term adds to the similarity of a question that says it.

        A feature weighs the same in whatever term it stands, so terms that share one agree on it.
        """
        shares = []
        for feature, weight in _features(term):
            weighted = weight * self._idf.get(feature, self._unseen_idf)
            found = [(index, weight * stored) for index, stored in self._postings.get(feature, ())]
            shares.append((feature, _Share(weighted * weighted, tuple(found))))
        return tuple(shares)


@lru_cache(maxsize=16_384)
def _kept_shares(cache: SemanticCache, term: str) -> tuple[tuple[str, _Share], ...]:
    return cache.made_shares(term)


def _bag(parts: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Features of the words of each part; a word said twice says no more than once."""
    bag: dict[str, float] = {}
    for text, share in parts:
        for term in terms.distinct(text):
            for feature, weight in _features(term):
                if bag.get(feature, 0.0) < weight * share:
                    bag[feature] = weight * share
    return bag


def _features(term: str) -> tuple[tuple[str, float], ...]:
    return _kept_features(term) if len(term) <= terms.LONGEST_KEPT else _made_features(term)


@lru_cache(maxsize=16_384)
def _kept_features(term: str) -> tuple[tuple[str, float], ...]:
    return _made_features(term)


def _made_features(term: str) -> tuple[tuple[str, float], ...]:
    stemmed = stem(term)
    features = [(stemmed, _STEM_WEIGHT)]
    if group := concept(stemmed):
        features.append((group, _CONCEPT_WEIGHT))
    padded = f"<{term}>"
    trigrams = dict.fromkeys(padded[start : start + 3] for start in range(len(padded) - 2))
    features.extend((f"#{trigram}", _TRIGRAM_WEIGHT) for trigram in trigrams)
    return tuple(features)


def _norm(weights: Iterable[float]) -> float:
    return sqrt(sum([weight * weight for weight in weights])) or 1.0
