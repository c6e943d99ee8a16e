"""The least that a right answer to one question costs: the call, and what the policy pays to hand it the evidence.

Whether a model is right on so many facts in so short a context is not relaxed: the draws of this world decide it.
What is relaxed is that contexts come without decoys, and that each fact is had on its cheapest terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import inf

from TokenOptEnv.config import REPLY_CAP_TOKENS, Profile
from TokenOptEnv.models import Effort, ItemKind, ModelCard, Subtask
from TokenOptEnv.plans.bound.bargains import Bargains, Terms
from TokenOptEnv.plans.bound.evidence import Evidence
from TokenOptEnv.plans.bound.freedom import Freedom
from TokenOptEnv.plans.bound.wording import Frame, answer_texts, held_tokens, least_tokens
from TokenOptEnv.scenario import Candidate, SubtaskTruth
from TokenOptEnv.simulators.backend import RouteReply, RouteRequest
from TokenOptEnv.simulators.routing import SimulatedBackend
from TokenOptEnv.world import World, strength, text_tokens

_FREE = Terms(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Price:
    """Of one right answer by one model, in pico-dollars."""

    cold: float
    hot: float
    """Where earlier calls to this model have left its head and shared evidence in the provider's cache."""


class Question:
    def __init__(
        self,
        world: World,
        subtask: Subtask,
        truth: SubtaskTruth,
        evidence: Evidence,
        bargains: Bargains,
        frame: Frame,
        slot_values: tuple[str, ...],
    ) -> None:
        """`slot_values` are what answers and earlier results can have put into its slot."""
        self._world = world
        self._subtask = subtask
        self._truth = truth
        self._evidence = evidence
        self._bargains = bargains
        self._frame = frame
        self._slot_values = slot_values
        self._needs = tuple(truth.needs)
        self._right = next(candidate for candidate in truth.candidates if candidate.right)
        self.prices = cache(self._prices)
        self._right_on = cache(self._is_right_on)
        self._frame_pico_usd = cache(self._least_frame_pico_usd)
        self._output_pico_usd = cache(self._least_output_pico_usd)
        self._escalated_pico_usd = cache(self._least_escalated_pico_usd)
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
            self._frame_pico_usd(card.model_id, hot=True)
            + self._output_pico_usd(card.model_id, effort, self._right.candidate_id)
            for card in self._world.visible.cards.values()
            for effort in Effort
            if self._reply(card, effort).values == self._right.values
        ]
        return min(found, default=None)

    def any_pico_usd(self, candidate: Candidate) -> int:
        """The least call that says this."""
        return min(
            self._frame_pico_usd(card.model_id, hot=True)
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
        share = {name: self._evidence.surfaced_share(name, cites_free) for name in self._needs}
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
        told = self._evidence.seen.told
        others = [0.0 if name in told else share[name] for name in self._needs if name not in duties]
        return forced + sum(sorted(others)[: max(0, fewest - len(duties))])

    def needs_lines(self, cites_free: bool) -> bool:
        """Can it only be asked after something was surfaced by reading or searching?"""
        return bool(self._needs) and not any(
            name in self._evidence.seen.told or (cites_free and self._evidence.is_cited(name)) for name in self._needs
        )

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
        bargains = self._bargains.least_first(card.model_id, freedom, duties, terms or _FREE, hot)
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
        return min(text_tokens(card, question.replace(hole, value)) for value in self._slot_values)

    def _least_output_pico_usd(self, model_id: str, effort: Effort, candidate_id: str, halved: bool = False) -> int:
        card = self._world.visible.cards[model_id]
        reply = least_tokens(self._texts[candidate_id], card)
        reasoning = self._reply(card, effort).reasoning_tokens
        return (min(reply, REPLY_CAP_TOKENS) + (reasoning // 2 if halved else reasoning)) * card.output_pico_usd

    def _least_escalated_pico_usd(self, model_id: str, effort: Effort) -> float:
        """Half the reasoning, where there is a weaker model to be asked before; that call is counted apart."""
        cards = self._world.visible.cards
        weaker = any(strength(other) < strength(cards[model_id]) for other in cards.values())
        if not weaker or self._world.visible.config.profile is Profile.V1:
            return inf
        return self._output_pico_usd(model_id, effort, self._right.candidate_id, halved=True)

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
