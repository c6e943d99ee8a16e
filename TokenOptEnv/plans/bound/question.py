"""The least that a right answer to one question costs: the call, and what the policy pays to hand it the evidence.

Whether a model is right on so many facts in so short a context is not relaxed: the draws of this world decide it.
What is relaxed is that contexts come without decoys, and that each fact is had on its cheapest terms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import inf

from TokenOptEnv.config import REPLY_CAP_TOKENS, ROUTE_MAX_HANDLES, Profile
from TokenOptEnv.models import Effort, ItemKind, ModelCard, Subtask
from TokenOptEnv.plans.bound.evidence import Evidence
from TokenOptEnv.plans.bound.freedom import Freedom
from TokenOptEnv.plans.bound.wording import Frame, answer_texts, held_tokens
from TokenOptEnv.scenario import Candidate, SubtaskTruth
from TokenOptEnv.simulators.backend import RouteReply, RouteRequest
from TokenOptEnv.simulators.evidence import lures
from TokenOptEnv.simulators.routing import SimulatedBackend
from TokenOptEnv.world import World, strength, text_tokens

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
class Price:
    """Of one right answer by one model, in pico-dollars."""

    cold: float
    hot: float
    """Where earlier calls to this model have left its head and shared evidence in the provider's cache."""


@dataclass(frozen=True, slots=True)
class _Bargain:
    """Some facts, had on these terms."""

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


class Question:
    def __init__(self, world: World, subtask: Subtask, truth: SubtaskTruth, evidence: Evidence, frame: Frame) -> None:
        self._world = world
        self._subtask = subtask
        self._truth = truth
        self._evidence = evidence
        self._frame = frame
        self._needs = tuple(truth.needs)
        self._all = frozenset(truth.needs)
        self._most_handles = ROUTE_MAX_HANDLES[world.visible.config.profile]
        self._right = next(candidate for candidate in truth.candidates if candidate.right)
        self.prices = cache(self._prices)
        self._covers = cache(self._least_covers)
        self._right_on = cache(self._is_right_on)
        self._frame_pico_usd = cache(self._least_frame_pico_usd)
        self._output_pico_usd = cache(self._least_output_pico_usd)
        self._escalated_pico_usd = cache(self._least_escalated_pico_usd)
        self._lures = self._forced_lures() if len(self._needs) <= _FEW_FACTS else []
        self._texts = {
            candidate.candidate_id: answer_texts(candidate, truth.subtask_id, world.visible, len(self._needs))
            for candidate in truth.candidates
        }

    def held_as(self, candidate: Candidate) -> int:
        """What its finding takes of the policy's prompts."""
        return held_tokens(self._texts[candidate.candidate_id], ItemKind.FINDING, self._world.visible.controller)

    def lucky_pico_usd(self) -> int | None:
        """The least call that is right on nothing; None where nobody would be."""
        found = [
            self._frame_pico_usd(card.model_id, hot=False)
            + self._output_pico_usd(card.model_id, effort, self._right.candidate_id)
            for card in self._world.visible.cards.values()
            for effort in Effort
            if self._reply(card, effort).values == self._right.values
        ]
        return min(found, default=None)

    def any_pico_usd(self, candidate: Candidate) -> int:
        """The least call that says this."""
        return min(
            self._frame_pico_usd(card.model_id, hot=False)
            + self._output_pico_usd(card.model_id, effort, candidate.candidate_id)
            for card in self._world.visible.cards.values()
            for effort in Effort
        )

    def least_call_pico_usd(self) -> int:
        """The least call that says anything, or nothing."""
        return min(
            self._frame_pico_usd(card.model_id, hot=True)
            + self._reply(card, effort).reasoning_tokens * card.output_pico_usd
            for card in self._world.visible.cards.values()
            for effort in Effort
        )

    def fewest_segments(self, freedom: Freedom, duties: frozenset[str], cites_free: bool) -> float:
        """How many must be surfaced for a right answer, shared out among all that use them."""
        share = {
            name: 0.0 if cites_free and name in self._evidence.cited else self._evidence.surfaced_share[name]
            for name in self._needs
        }
        forced = sum(share[name] for name in duties)
        if freedom.notes:
            return forced
        fewest = min(
            (
                count
                for model_id in self._world.visible.cards
                for effort in Effort
                for count in range(1 if self._needs else 0, len(self._needs) + 1)
                if self._right_on(model_id, effort, count, 0, 0)
            ),
            default=0,
        )
        others = [0.0 if name in self._evidence.told else share[name] for name in self._needs if name not in duties]
        return forced + sum(sorted(others)[: max(0, fewest - len(duties))])

    def _prices(self, freedom: Freedom, duties: frozenset[str], terms: Terms | None) -> dict[str, Price]:
        """By model, where it can be right. `duties` are facts of the evidence that no other question's call reads.

        Without `terms` the policy's prompt charges nothing.
        """
        found: dict[str, Price] = {}
        for card in self._world.visible.cards.values():
            cold = self._least(card, freedom, duties, terms, hot=False)
            if cold < inf:
                hot = inf if card.cache_rule is None else self._least(card, freedom, duties, terms, hot=True)
                found[card.model_id] = Price(cold, hot)
        return found

    def _least(
        self, card: ModelCard, freedom: Freedom, duties: frozenset[str], terms: Terms | None, hot: bool
    ) -> float:
        charged = terms or Terms(0, 0, 0, 0)
        facts = {name: self._otherwise(card, name, freedom, name in duties, charged, hot) for name in self._needs}
        if len(facts) <= _FEW_FACTS:
            bargains = list(self._selections(card, facts, charged, hot))
        else:
            bargains = list(self._shares(card, facts, charged, hot))
        bargains.sort(key=lambda bargain: bargain.pico_usd)
        frame = self._frame_pico_usd(card.model_id, hot)
        best = inf
        for effort in Effort:
            output: float = self._output_pico_usd(card.model_id, effort, self._right.candidate_id)
            if freedom.asks:
                output = min(output, self._escalated_pico_usd(card.model_id, effort))
            if terms is not None and effort is not Effort.MEDIUM:
                output += self._frame.effort_words * self._world.visible.controller.output_pico_usd
            for bargain in bargains:
                cost = frame + output + bargain.pico_usd
                if cost >= best:
                    break
                if self._right_on(card.model_id, effort, bargain.count, bargain.tokens, bargain.lures):
                    best = cost
        return best

    def _otherwise(self, card: ModelCard, name: str, freedom: Freedom, duty: bool, terms: Terms, hot: bool) -> _Fact:
        evidence = self._evidence
        price = card.input_pico_usd / (evidence.needed_by[name] if hot else 1)
        whole_tokens = evidence.whole_shares(card, self._all)[name]
        span_tokens = min(evidence.span_tokens(card, name), whole_tokens)
        whole, span = whole_tokens * price, span_tokens * price
        said = evidence.span_tokens(self._world.visible.controller, name) / evidence.needed_by[name]
        line = terms.cited_line if name in evidence.cited else terms.line
        loaded = evidence.loaded_tokens(name) * terms.load
        loadable = freedom.loads or name in evidence.small
        bare = freedom.squeezes or (freedom.squeezes_small and name in evidence.small)
        unread = inf
        if name in evidence.glimpsed:
            unread = span + evidence.line_share(name) * line + said * terms.line
        if name in evidence.told:
            unread = span
        if freedom.notes:
            unread = min(unread, span + said * terms.write)
        read = inf
        if loadable:
            read = whole + loaded
        if bare:
            read = min(read, span + loaded)
        readable = loadable or freedom.asks
        short = bare or (unread < inf and (readable or not duty))
        tokens = span_tokens if short else whole_tokens
        if not duty:
            return _Fact(min(unread, read), 0.0, tokens)
        elsewhere = min(loaded if loadable else inf, evidence.least_read_pico_usd[name] if freedom.asks else inf)
        return _Fact(min(unread + elsewhere, read), elsewhere, tokens)

    def _selections(self, card: ModelCard, facts: dict[str, _Fact], terms: Terms, hot: bool) -> Iterator[_Bargain]:
        """Every set of facts by handle, on the cheapest segments that show them; the others as each is had best."""
        names = list(facts)
        price, tokens = self._covers(card.model_id, terms, hot)
        for handed in range(1 << len(names)):
            if price[handed] == inf:
                continue
            others = [facts[name] for place, name in enumerate(names) if not handed >> place & 1]
            base = price[handed] + sum(min(fact.unshown, fact.shown) for fact in others)
            if base == inf:
                continue
            more = _least_first([max(0.0, fact.shown - fact.unshown) if fact.shown < inf else inf for fact in others])
            longer = _least_first([fact.tokens for fact in others])
            for count in range(len(others) + 1):
                shown = handed.bit_count() + count
                if more[count] < inf and (shown or not names):
                    yield _Bargain(base + more[count], shown, int(tokens[handed] + longer[count]), self._lures[handed])

    def _least_covers(self, model_id: str, terms: Terms, hot: bool) -> tuple[list[float], list[float]]:
        """By set of facts: the least price and the fewest tokens of at most four segments that show them."""
        card, evidence = self._world.visible.cards[model_id], self._evidence
        bits = {name: 1 << place for place, name in enumerate(self._needs)}
        words = self._frame.handle_words * self._world.visible.controller.output_pico_usd if terms.line else 0
        prices: dict[int, float] = {}
        counts: dict[int, float] = {}
        for segment_id, shown in evidence.shown_by(self._all).items():
            mask = sum(bits[name] for name in shown)
            count = evidence.segment_tokens(card, segment_id)
            users = evidence.users[segment_id]
            line = terms.cited_line if evidence.is_cited(segment_id) else terms.line
            price = count * card.input_pico_usd / (users if hot else 1)
            price += evidence.line_tokens[segment_id] // users * line + words
            prices[mask] = min(price, prices.get(mask, inf))
            counts[mask] = min(count, counts.get(mask, inf))
        size = 1 << len(self._needs)
        return _covered(prices, size, self._most_handles), _covered(counts, size, self._most_handles)

    def _forced_lures(self) -> list[int]:
        """By set of facts: what misleads in the segments that alone show one of them."""
        found: list[int] = []
        for handed in range(1 << len(self._needs)):
            names = [name for place, name in enumerate(self._needs) if handed >> place & 1]
            found.append(lures(self._truth, self._evidence.forced_decoys(names)))
        return found

    def _shares(self, card: ModelCard, facts: dict[str, _Fact], terms: Terms, hot: bool) -> Iterator[_Bargain]:
        """Of many facts, the cheapest so many; at most four segments by handle, the rest otherwise."""
        evidence = self._evidence
        whole = evidence.whole_shares(card, self._all)
        handed: dict[str, float] = {}
        for name in facts:
            line = terms.cited_line if name in evidence.cited else terms.line
            readers = evidence.needed_by[name] if hot else 1
            handed[name] = whole[name] * card.input_pico_usd / readers + evidence.line_share(name) * line
        shows = sorted((len(shown) for shown in evidence.shown_by(self._all).values()), reverse=True)
        most_handed = sum(shows[: self._most_handles])
        forced = [name for name, fact in facts.items() if fact.unshown == inf]
        free = [name for name in facts if name not in forced]
        cheapest = {name: min(handed[name], fact.shown) for name, fact in facts.items()}
        base = sum(cheapest[name] for name in forced)
        base += sum(min(facts[name].unshown, cheapest[name]) for name in free)
        more = _least_first([max(0.0, cheapest[name] - facts[name].unshown) for name in free])
        shortest = {name: min(fact.tokens, whole[name]) for name, fact in facts.items()}
        longer = _least_first([shortest[name] for name in free])
        beyond = _least_first([max(0.0, fact.shown - handed[name]) for name, fact in facts.items()])
        start = sum(shortest[name] for name in forced)
        for count in range(max(1, len(forced)), len(facts) + 1):
            pico = base + more[count - len(forced)] + beyond[max(0, count - most_handed)]
            if pico < inf:
                yield _Bargain(pico, count, int(start + longer[count - len(forced)]), 0)

    def _is_right_on(self, model_id: str, effort: Effort, count: int, tokens: int, lures: int) -> bool:
        backend = self._world.backend
        assert isinstance(backend, SimulatedBackend)
        real_id = self._world.visible.real_ids[model_id]
        share = count / len(self._needs) if self._needs else 1.0
        chance = backend.odds_at(self._truth.subtask_id, real_id, effort, share, tokens, lures)
        return backend.threshold(self._truth.subtask_id, real_id) < chance

    def _least_frame_pico_usd(self, model_id: str, hot: bool) -> int:
        """Head and question. The question is always fresh; the head may be a cache read, of at least so much."""
        card = self._world.visible.cards[model_id]
        asked = self._question_tokens(card) * card.input_pico_usd
        head = text_tokens(card, self._world.visible.worker_head)
        if not hot or card.cache_rule is None:
            return asked + head * card.input_pico_usd
        return asked + max(card.cache_rule.min_tokens, head) * min(card.cache_read_pico_usd, card.input_pico_usd)

    def _question_tokens(self, card: ModelCard) -> int:
        question, slot = self._subtask.question, self._subtask.slot
        if slot is None:
            return text_tokens(card, question)
        hole = "{" + slot.name + "}"
        return min(text_tokens(card, question.replace(hole, value)) for value in self._evidence.slot_values(slot))

    def _least_output_pico_usd(self, model_id: str, effort: Effort, candidate_id: str, halved: bool = False) -> int:
        card = self._world.visible.cards[model_id]
        reply = min(text_tokens(card, text) for text in self._texts[candidate_id])
        reasoning = self._reply(card, effort).reasoning_tokens
        return (min(reply, REPLY_CAP_TOKENS) + (reasoning // 2 if halved else reasoning)) * card.output_pico_usd

    def _least_escalated_pico_usd(self, model_id: str, effort: Effort) -> float:
        """Half the reasoning, but a weaker model was asked before."""
        if self._world.visible.config.profile is Profile.V1:
            return inf
        cards = self._world.visible.cards
        before = [
            self._frame_pico_usd(other.model_id, hot=False)
            + min(self._reply(other, each).reasoning_tokens for each in Effort) * other.output_pico_usd
            for other in cards.values()
            if strength(other) < strength(cards[model_id])
        ]
        return min(before, default=inf) + self._output_pico_usd(model_id, effort, self._right.candidate_id, halved=True)

    def _reply(self, card: ModelCard, effort: Effort) -> RouteReply:
        """What the model says to nothing; how long it reasons does not depend on what it is given."""
        return self._world.backend.answer(
            RouteRequest(
                subtask_id=self._truth.subtask_id,
                question="",
                slot_value=self._truth.slot_value,
                model_id=self._world.visible.real_ids[card.model_id],
                effort=effort,
                context=(),
                context_tokens=0,
            )
        )


def _covered(of: dict[int, float], size: int, most: int) -> list[float]:
    """By set: the least sum of at most so many of these sets that cover it."""
    sums = [0.0] + [inf] * (size - 1)
    for _ in range(most):
        sums = [
            min([sums[wanted], *(value + sums[wanted & ~mask] for mask, value in of.items() if mask & wanted)])
            for wanted in range(size)
        ]
    return sums


def _least_first(values: list[float] | list[int]) -> list[float]:
    """The sum of the least so many, from none to all."""
    return [0.0, *accumulate(sorted(values))]
