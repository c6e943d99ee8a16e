"""The simulated models: what each answers, how sure it says it is, and what it cites.

Whether an answer is right is decided in `odds`; what the context shows, in `evidence`. Here an answer is
made of the two so that it tells no more than a real one would: wrong answers keep to one ranking per
question, cite as many segments as right ones, and state a confidence that is informative but not honest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from TokenOptEnv.catalog import load_behaviours, load_catalog
from TokenOptEnv.errors import ScenarioInvalid, UnknownName
from TokenOptEnv.models.card import Effort, ModelCard
from TokenOptEnv.scenario import Candidate, Scenario, SubtaskTruth
from TokenOptEnv.simulators.backend import ContextPiece, RouteReply, RouteRequest
from TokenOptEnv.simulators.evidence import EvidenceReader, Reading, lures
from TokenOptEnv.simulators.odds import log_odds, logistic, odds, stated_confidence, threshold
from TokenOptEnv.streams import Stream, normal, uniform

__all__ = ["SimulatedBackend", "TypicalBackend", "exact_context", "odds", "threshold", "world_draw"]

INSUFFICIENT = "The evidence given does not suffice to answer."
_UNSURE_RANGE = (0.05, 0.25)
"""What a model states when it says that the evidence does not suffice."""
_MAX_REDRAWS = 10_000
_MOST_REPLIES = 256
_MARGIN = 0.01
"""A solvable world is solvable by more than a hair: headers over loaded segments lengthen a context a little."""


@dataclass(frozen=True, slots=True)
class _Dice:
    """Every draw about one model's answer to one question, whatever it is given to read."""

    threshold: float
    noise: float
    abstains: bool
    unsure: float


class Prospect(NamedTuple):
    """What may be expected of a reply by who sees it, whatever was drawn."""

    chance: float
    """Of being right."""
    is_whole: bool
    """Whether all that a right answer rests on was there, and can be cited."""


class SimulatedBackend:
    def __init__(
        self, scenario: Scenario, world_index: int, catalog: str, menu: tuple[str, ...], redraw: int | None = None
    ) -> None:
        """`redraw` is for checks of calibration, which choosing solvable worlds would bias; play leaves it out."""
        if redraw is None:
            redraw = world_draw(scenario, world_index, catalog, menu)
        self._key = (scenario.scenario_id, world_index, redraw)
        cards = load_catalog(catalog)
        self._constants, behaviours = load_behaviours(catalog)
        self._cards = {model_id: cards.card(model_id) for model_id in menu}
        self._behaviours = {model_id: behaviours[model_id] for model_id in menu}
        self._truths = {truth.subtask_id: truth for truth in scenario.hidden.subtasks}
        self._reader = EvidenceReader(scenario)
        self._right = {truth.subtask_id: _right_candidate(truth) for truth in scenario.hidden.subtasks}
        self._wrong = {
            truth.subtask_id: tuple(
                Stream(*self._key, "wrong", truth.subtask_id).shuffled([c for c in truth.candidates if not c.right])
            )
            for truth in scenario.hidden.subtasks
        }
        self._dice: dict[tuple[str, str], _Dice] = {}
        self._replies: dict[tuple[object, ...], RouteReply] = {}

    def answer(self, request: RouteRequest) -> RouteReply:
        """Remembered, because episodes of one case ask alike; forgetting costs little, so it forgets all at once."""
        asked = (
            request.subtask_id,
            request.slot_value,
            request.model_id,
            request.effort,
            request.context,
            request.context_tokens,
        )
        reply = self._replies.get(asked)
        if reply is None:
            if len(self._replies) >= _MOST_REPLIES:
                self._replies.clear()
            reply = self._replies[asked] = self._reply(request)
        return reply

    def _reply(self, request: RouteRequest) -> RouteReply:
        card = self._card(request.model_id)
        truth = self._truth(request.subtask_id)
        dice = self._dice_of(request.subtask_id, request.model_id)
        reading = self._read(request, truth)
        chance = self._odds(request, truth, reading)
        right = dice.threshold < chance
        candidate = self._right[request.subtask_id] if right else self._first_wrong(request.subtask_id, reading)
        reasoning_tokens = self._reasoning_tokens(request, card)
        nothing_to_go_on = bool(truth.needs) and not reading.facts
        if candidate is None or (nothing_to_go_on and dice.abstains):
            return RouteReply({}, INSUFFICIENT, dice.unsure, (), reasoning_tokens)
        return RouteReply(
            values=dict(candidate.values),
            text=candidate.text,
            confidence=self._confidence(request.model_id, chance, right, dice.noise),
            cites=_cites(candidate, reading, request.context),
            reasoning_tokens=reasoning_tokens,
        )

    def threshold(self, subtask_id: str, model_id: str) -> float:
        return self._dice_of(subtask_id, model_id).threshold

    def odds_at(
        self, subtask_id: str, model_id: str, effort: Effort, share: float, context_tokens: int, decoys: int
    ) -> float:
        """For plans and bounds, which may know it: the chance of being right on a context like this."""
        behaviour = self._behaviours[model_id]
        return odds(self._constants, behaviour, self._truth(subtask_id), effort, share, context_tokens, decoys)

    def prospect(self, request: RouteRequest, stated: float) -> Prospect:
        """For training, which may know it: of a reply with this confidence."""
        truth = self._truth(request.subtask_id)
        reading = self._read(request, truth)
        chance = self._odds(request, truth, reading)
        neutral = self._felt(request.model_id, chance)
        behaviour = self._behaviours[request.model_id]
        spoken_for = 2.0 * behaviour.confidence_signal * (log_odds(stated) - neutral) / behaviour.confidence_noise**2
        is_whole = all(reading.facts.get(fact_id) is not None for fact_id in truth.needs)
        return Prospect(logistic(log_odds(chance) + spoken_for), is_whole)

    def _card(self, model_id: str) -> ModelCard:
        if model_id not in self._cards:
            raise UnknownName("model on this menu", model_id, self._cards, "camre catalog show")
        return self._cards[model_id]

    def _truth(self, subtask_id: str) -> SubtaskTruth:
        if subtask_id not in self._truths:
            raise UnknownName("subtask", subtask_id, self._truths, "camre scenarios show")
        return self._truths[subtask_id]

    def _read(self, request: RouteRequest, truth: SubtaskTruth) -> Reading:
        reading = self._reader.read(request.subtask_id, request.context)
        return reading if _slot_fits(truth, request) else reading.without_facts()

    def _odds(self, request: RouteRequest, truth: SubtaskTruth, reading: Reading) -> float:
        share = len(reading.facts) / len(truth.needs) if truth.needs else 1.0
        behaviour = self._behaviours[request.model_id]
        return odds(
            self._constants,
            behaviour,
            truth,
            request.effort,
            share,
            request.context_tokens,
            lures(truth, reading.decoys),
        )

    def _dice_of(self, subtask_id: str, model_id: str) -> _Dice:
        asked = (subtask_id, model_id)
        if asked not in self._dice:
            low, high = _UNSURE_RANGE
            self._dice[asked] = _Dice(
                threshold=threshold(*self._key, subtask_id, model_id, rho=self._constants.rho),
                noise=normal(*self._key, "confidence", subtask_id, model_id),
                abstains=uniform(*self._key, "abstain", subtask_id, model_id) < self._constants.insufficient_share,
                unsure=round(low + (high - low) * uniform(*self._key, "unsure", subtask_id, model_id), 2),
            )
        return self._dice[asked]

    def _first_wrong(self, subtask_id: str, reading: Reading) -> Candidate | None:
        """The first of the question's ranking that the context does not speak against."""
        return next(
            (
                candidate
                for candidate in self._wrong[subtask_id]
                if not candidate.decoy_ids or any(decoy_id in reading.decoys for decoy_id in candidate.decoy_ids)
            ),
            None,
        )

    def _confidence(self, model_id: str, chance: float, right: bool, noise: float) -> float:
        behaviour = self._behaviours[model_id]
        told = behaviour.confidence_signal if right else -behaviour.confidence_signal
        return round(stated_confidence(self._felt(model_id, chance) + told + behaviour.confidence_noise * noise), 2)

    def _felt(self, model_id: str, chance: float) -> float:
        """Before it shows whether it is right."""
        return self._constants.confidence_slope * log_odds(chance) + self._behaviours[model_id].confidence_bias

    def _reasoning_tokens(self, request: RouteRequest, card: ModelCard) -> int:
        most = card.reasoning_tokens[request.effort]
        drawn = uniform(*self._key, "reasoning", request.subtask_id, request.model_id, request.effort.value)
        return round(most * (1.0 + drawn) / 2.0)


class TypicalBackend(SimulatedBackend):
    """A world in which nobody is lucky: a model is right exactly when that is likelier than not.

    Plans that may not know the draws are chosen here, and only then played where they count.
    """

    def __init__(self, scenario: Scenario, catalog: str, menu: tuple[str, ...]) -> None:
        super().__init__(scenario, -1, catalog, menu, redraw=0)

    def _dice_of(self, subtask_id: str, model_id: str) -> _Dice:
        return _TYPICAL


_TYPICAL = _Dice(threshold=0.5, noise=0.0, abstains=False, unsure=round(sum(_UNSURE_RANGE) / 2, 2))


def world_draw(scenario: Scenario, world_index: int, catalog: str, menu: tuple[str, ...]) -> int:
    """The first redraw of this world in which every question can be answered by somebody.

    A world in which no model on the menu is right on exactly the needed facts, at any effort, would ask for
    luck and not for control.
    """
    rho = load_behaviours(catalog)[0].rho
    best = _best_odds(scenario, catalog, menu)
    for redraw in range(_MAX_REDRAWS):
        if all(
            any(
                threshold(scenario.scenario_id, world_index, redraw, subtask_id, model_id, rho=rho) < chance - _MARGIN
                for model_id, chance in chances.items()
            )
            for subtask_id, chances in best.items()
        ):
            return redraw
    raise ScenarioInvalid(f"{scenario.scenario_id}: no draw lets the menu {', '.join(menu)} answer every subtask")


@lru_cache(maxsize=512)
def _best_odds(scenario: Scenario, catalog: str, menu: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """By subtask and model: on exactly the needed facts, at the best effort. Kept, since all worlds share it."""
    constants, behaviours = load_behaviours(catalog)
    cards = load_catalog(catalog)
    reader = EvidenceReader(scenario)
    best: dict[str, dict[str, float]] = {}
    for truth in scenario.hidden.subtasks:
        context = exact_context(scenario, truth)
        decoys = lures(truth, reader.read(truth.subtask_id, context).decoys)
        best[truth.subtask_id] = {}
        for model_id in menu:
            tokens = _context_tokens(scenario, context, cards.card(model_id))
            best[truth.subtask_id][model_id] = max(
                odds(constants, behaviours[model_id], truth, effort, 1.0, tokens, decoys) for effort in Effort
            )
    return best


def exact_context(scenario: Scenario, truth: SubtaskTruth) -> tuple[ContextPiece, ...]:
    """The segments that show exactly what a question needs: the first place of each fact, in the order of `needs`."""
    facts = {fact.fact_id: fact for fact in scenario.hidden.facts}
    texts = {s.segment_id: s.text for artifact in scenario.public.artifacts for s in artifact.segments}
    ids = dict.fromkeys(facts[fact_id].places[0].segment_id for fact_id in truth.needs)
    return tuple(ContextPiece(item_id=i, text=texts[i], source_ids=(i,)) for i in ids)


def _context_tokens(scenario: Scenario, context: tuple[ContextPiece, ...], card: ModelCard) -> int:
    """Rounded up piece by piece, as a call is billed."""
    ids = [segment.segment_id for artifact in scenario.public.artifacts for segment in artifact.segments]
    counts = dict(zip(ids, scenario.public.segment_tokens[card.vocabulary], strict=True))
    return sum(-(-counts[piece.item_id] * card.vocabulary_permille // 1000) for piece in context)


def _right_candidate(truth: SubtaskTruth) -> Candidate:
    right = next((candidate for candidate in truth.candidates if candidate.right), None)
    if right is None:
        raise ScenarioInvalid(f"subtask {truth.subtask_id!r} has no right candidate; add one")
    return right


def _slot_fits(truth: SubtaskTruth, request: RouteRequest) -> bool:
    """With the wrong request id or commit in the question, the evidence for the right one proves nothing."""
    if truth.slot_value is None:
        return True
    return (request.slot_value or "").strip().casefold() == truth.slot_value.strip().casefold()


def _cites(candidate: Candidate, reading: Reading, context: tuple[ContextPiece, ...]) -> tuple[str, ...]:
    """As many segments as a right answer would cite; a wrong one puts what misled it first.

    Were wrong answers cited differently, counting citations would tell right from wrong better than any
    confidence does.
    """
    facts = list(dict.fromkeys(segment_id for segment_id in reading.facts.values() if segment_id is not None))
    misled_by = [reading.decoys.get(decoy_id) for decoy_id in candidate.decoy_ids] if not candidate.right else []
    wanted = dict.fromkeys([*(segment_id for segment_id in misled_by if segment_id is not None), *facts])
    chosen = list(wanted)[: max(1, len(facts))]
    sources = list(dict.fromkeys(source for piece in context for source in piece.source_ids))
    return tuple(source for source in sources if source in chosen) or tuple(sources[:1])
