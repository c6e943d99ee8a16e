"""How cheaply so many facts of a question can be had, by one model and by the policy; the same in every world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import inf

from TokenOptEnv.config import ROUTE_MAX_HANDLES
from TokenOptEnv.models import ModelCard
from TokenOptEnv.plans.bound.evidence import Evidence
from TokenOptEnv.plans.bound.freedom import Freedom
from TokenOptEnv.plans.bound.wording import Frame
from TokenOptEnv.scenario import SubtaskTruth
from TokenOptEnv.simulators.evidence import lures
from TokenOptEnv.world import VisibleWorld

_FEW_FACTS = 5
"""Up to so many facts, every selection is looked at; beyond, each takes its share of a segment."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What the policy's own prompt charges for evidence, in pico-dollars a token."""

    line: int
    """For what surfaces a segment, over all the prompts it stays in."""
    cited_line: int
    """The same where an earlier result may have surfaced it."""
    load: int
    write: int


@dataclass(frozen=True, slots=True)
class Bargain:
    """So many facts, had at this price."""

    pico_usd: float
    count: int
    tokens: int
    """In the context, at the least."""
    lures: int
    """Wrong answers that its segments speak for, whichever are chosen."""


@dataclass(frozen=True, slots=True)
class _Fact:
    """What one fact takes, other than by handle."""

    shown: float
    unshown: float
    """Though not shown to the model: nothing, or what reading it for the evidence takes."""
    tokens: int

    @property
    def least(self) -> float:
        return min(self.shown, self.unshown)

    @property
    def more(self) -> float:
        """What showing it takes besides the least."""
        return inf if self.shown == inf else self.shown - self.least


class Bargains:
    """Of one question."""

    def __init__(self, visible: VisibleWorld, truth: SubtaskTruth, evidence: Evidence, frame: Frame) -> None:
        self._visible = visible
        self._truth = truth
        self._evidence = evidence
        self._frame = frame
        self._needs = tuple(truth.needs)
        self._all = frozenset(truth.needs)
        self._most_handles = ROUTE_MAX_HANDLES[visible.config.profile]
        self._lures = self._forced_lures() if len(self._needs) <= _FEW_FACTS else []
        self._covers = cache(self._least_covers)
        self.least_first = cache(self._least_first)

    def _least_first(
        self, model_id: str, freedom: Freedom, duties: frozenset[str], terms: Terms, hot: bool
    ) -> tuple[Bargain, ...]:
        """All that may be worth it, the cheapest first.

        `duties` are facts that must be read whole for the evidence; where the model is `hot`, what several questions
        share may be in its cache.
        """
        card = self._visible.cards[model_id]
        facts = {name: self._otherwise(card, name, freedom, name in duties, terms, hot) for name in self._needs}
        if len(facts) <= _FEW_FACTS:
            found = self._selections(card, facts, duties, terms, hot)
        else:
            found = self._shares(card, facts, terms, hot)
        return tuple(sorted(found, key=lambda bargain: bargain.pico_usd))

    def _otherwise(self, card: ModelCard, name: str, freedom: Freedom, duty: bool, terms: Terms, hot: bool) -> _Fact:
        evidence, seen = self._evidence, self._evidence.seen
        price = card.input_pico_usd / (seen.needed_by[name] if hot else 1)
        whole_tokens = evidence.whole_shares(card, self._all)[name]
        span_tokens = min(evidence.span_tokens(card, name), whole_tokens)
        whole, span = whole_tokens * price, span_tokens * price
        said_tokens = evidence.span_tokens(self._visible.controller, name) / seen.needed_by[name]
        bare = freedom.squeezes or (freedom.squeezes_small and evidence.is_small(name))
        unread = inf
        if name in seen.glimpsed:
            unread = span + max(evidence.line_share(name), said_tokens) * terms.line
        if freedom.notes:
            unread = min(unread, span + said_tokens * (terms.write + terms.load))
        if name in seen.told:
            unread = span
        handed = span if bare else whole
        loadable = bare or freedom.loads or evidence.is_small(name)
        read = handed + evidence.loaded_tokens(name) * terms.load if loadable else inf
        tokens = span_tokens if bare or unread < inf else whole_tokens
        if not duty:
            return _Fact(min(unread, read), 0.0, tokens)
        loads = freedom.loads or evidence.grounds_small(name)
        own = evidence.loaded_to_ground_tokens(name) * terms.load if loads else inf
        elsewhere = min(own, evidence.least_read_pico_usd[name] if freedom.asks else inf)
        return _Fact(min(unread + elsewhere, read + elsewhere, handed + own), elsewhere, tokens)

    def _selections(
        self, card: ModelCard, facts: dict[str, _Fact], duties: frozenset[str], terms: Terms, hot: bool
    ) -> Iterator[Bargain]:
        """Every set of facts by handle, on the cheapest segments that show them; the others as each is had best."""
        names = list(facts)
        price, tokens = self._covers(card.model_id, terms, hot, grounding=False)
        grounded, _ = self._covers(card.model_id, terms, hot, grounding=True)
        due = sum(1 << place for place, name in enumerate(names) if name in duties)
        for handed in range(1 << len(names)):
            others = [facts[name] for place, name in enumerate(names) if not handed >> place & 1]
            base = max(price[handed], grounded[handed & due]) + sum(fact.least for fact in others)
            if base == inf:
                continue
            more = _sums([fact.more for fact in others])
            longer = _sums([fact.tokens for fact in others])
            for count in range(len(others) + 1):
                shown = handed.bit_count() + count
                if more[count] < inf and (shown or not names):
                    yield Bargain(base + more[count], shown, int(tokens[handed] + longer[count]), self._lures[handed])

    def _least_covers(self, model_id: str, terms: Terms, hot: bool, grounding: bool) -> tuple[list[float], list[float]]:
        """By set of facts: the least price and fewest tokens of at most four segments that show, or ground, them."""
        card, evidence, seen = self._visible.cards[model_id], self._evidence, self._evidence.seen
        bits = {name: 1 << place for place, name in enumerate(self._needs)}
        words = self._frame.handle_words * self._visible.controller.output_pico_usd if terms.line else 0
        prices: dict[int, float] = {}
        counts: dict[int, float] = {}
        of_fact = seen.places if grounding else seen.shown_in
        for segment_id in frozenset[str]().union(*(of_fact[name] for name in self._needs)):
            mask = sum(bit for name, bit in bits.items() if segment_id in of_fact[name])
            count = evidence.segment_tokens(card, segment_id)
            users = seen.users[segment_id]
            line = terms.cited_line if segment_id in seen.cited else terms.line
            price = count * card.input_pico_usd / (users if hot else 1)
            price += evidence.line_tokens(segment_id) // users * line + words
            prices[mask] = min(price, prices.get(mask, inf))
            counts[mask] = min(count, counts.get(mask, inf))
        size = 1 << len(self._needs)
        return _covered(prices, size, self._most_handles), _covered(counts, size, self._most_handles)

    def _forced_lures(self) -> list[int]:
        """By set of facts: what misleads in the segments that alone show one of them."""
        found: list[int] = []
        for handed in range(1 << len(self._needs)):
            names = [name for place, name in enumerate(self._needs) if handed >> place & 1]
            found.append(lures(self._truth, self._evidence.seen.forced_decoys(names)))
        return found

    def _shares(self, card: ModelCard, facts: dict[str, _Fact], terms: Terms, hot: bool) -> Iterator[Bargain]:
        """Of many facts, the cheapest so many; at most four segments by handle, the rest otherwise."""
        evidence, seen = self._evidence, self._evidence.seen
        whole = evidence.whole_shares(card, self._all)
        handed: dict[str, float] = {}
        for name in facts:
            line = terms.cited_line if evidence.is_cited(name) else terms.line
            readers = seen.needed_by[name] if hot else 1
            handed[name] = whole[name] * card.input_pico_usd / readers + evidence.line_share(name) * line
        shows = sorted((len(shown & self._all) for shown in seen.shows.values()), reverse=True)
        most_handed = sum(shows[: self._most_handles])
        had = {name: _Fact(min(handed[name], fact.shown), fact.unshown, fact.tokens) for name, fact in facts.items()}
        forced = [fact for fact in had.values() if fact.unshown == inf]
        free = [fact for fact in had.values() if fact.unshown < inf]
        base = sum(fact.shown for fact in forced) + sum(fact.least for fact in free)
        more, longer = _sums([fact.more for fact in free]), _sums([fact.tokens for fact in free])
        beyond = _sums([max(0.0, fact.shown - handed[name]) for name, fact in facts.items()])
        start = sum(fact.tokens for fact in forced)
        for count in range(max(1, len(forced)), len(facts) + 1):
            chosen = count - len(forced)
            pico = base + more[chosen] + beyond[max(0, count - most_handed)]
            if pico < inf:
                yield Bargain(pico, count, int(start + longer[chosen]), 0)


def _covered(of: dict[int, float], size: int, most: int) -> list[float]:
    """By set: the least sum of at most so many of these sets that cover it."""
    sums = [0.0] + [inf] * (size - 1)
    for _ in range(most):
        sums = [
            min([sums[wanted], *(value + sums[wanted & ~mask] for mask, value in of.items() if mask & wanted)])
            for wanted in range(size)
        ]
    return sums


def _sums(values: list[float] | list[int]) -> list[float]:
    """Of the least so many, from none to all."""
    return [0.0, *accumulate(sorted(values))]
