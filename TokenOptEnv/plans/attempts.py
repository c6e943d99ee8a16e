"""Whom to ask, and whom next when that one is wrong: from expected odds alone, never from the draws.

Errors are correlated across models, so a failure says that the question is hard for the others too. The
order takes that in: after each failure the hidden difficulty of the question is weighed anew, and the next
to be asked is the one with the least price per chance of being right now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod, sqrt
from statistics import NormalDist

from TokenOptEnv import ledger
from TokenOptEnv.catalog import load_behaviours
from TokenOptEnv.config import REPLY_CAP_TOKENS
from TokenOptEnv.episode_state import ContextPiece, PromptPiece
from TokenOptEnv.models import Effort, ModelCard
from TokenOptEnv.plans.ways import Inquiry
from TokenOptEnv.scenario import Scenario, SubtaskTruth
from TokenOptEnv.simulators.evidence import lures
from TokenOptEnv.simulators.routing import odds
from TokenOptEnv.world import VisibleWorld, strength, text_tokens

_NORMAL = NormalDist()
_NODES = tuple(_NORMAL.inv_cdf((place + 0.5) / 31) for place in range(31))
"""Difficulties that are equally likely beforehand."""


@dataclass(frozen=True, slots=True)
class _Option:
    model_id: str
    effort: Effort
    nano_usd: int
    right_at: tuple[float, ...]
    """The chance of being right at each node of difficulty."""


def order_attempts(
    scenario: Scenario,
    visible: VisibleWorld,
    truth: SubtaskTruth,
    pieces: tuple[ContextPiece, ...],
    decision_nano_usd: int,
    goes_up: bool,
) -> list[Inquiry]:
    """`decision_nano_usd` is what one more decision is worth: the scarcer steps are, the surer the first asked.

    Who may not go up once there is an answer begins with the strongest of those asked: one order for each of them.
    """
    options = _options(scenario, visible, truth, pieces)
    if goes_up:
        return [_ordered(options, decision_nano_usd)]
    found: list[Inquiry] = []
    dearest = max(option.nano_usd for option in options)
    for top in visible.by_strength:
        within = [option for option in options if strength(visible.cards[option.model_id]) <= strength(top)]
        firsts = [option for option in within if option.model_id == top.model_id]
        found += [_ordered(within, decision_nano_usd, first, dearest) for first in firsts]
    return found


def _ordered(
    options: Sequence[_Option], decision_nano_usd: int, first: _Option | None = None, failing_nano_usd: int = 0
) -> Inquiry:
    """`failing_nano_usd` is what it counts for if all of them are wrong."""
    options = list(options)
    failed: dict[str, tuple[float, ...]] = {}
    order: list[tuple[str, Effort]] = []
    expected = 0.0
    never = (0.0,) * len(_NODES)
    while options:
        weights = [1.0] * len(_NODES)
        for at in failed.values():
            weights = [weight * (1.0 - right) for weight, right in zip(weights, at, strict=True)]
        total = sum(weights)
        best: tuple[float, _Option] | None = None
        for option in [first] if first is not None and not order else options:
            before = failed.get(option.model_id, never)
            gain = 0.0
            for weight, now, gone in zip(weights, option.right_at, before, strict=True):
                if now > gone and gone < 1.0:
                    gain += weight * (now - gone) / (1.0 - gone)
            if total <= 0.0 or gain / total < 1e-6:
                continue
            price = (option.nano_usd + decision_nano_usd) * total / gain
            if best is None or price < best[0]:
                best = (price, option)
        if best is None:
            break
        pick = best[1]
        expected += (pick.nano_usd + decision_nano_usd) * total / len(_NODES)
        order.append((pick.model_id, pick.effort))
        options.remove(pick)
        before = failed.get(pick.model_id, never)
        failed[pick.model_id] = tuple(max(a, b) for a, b in zip(before, pick.right_at, strict=True))
    unanswered = sum(prod(1.0 - at[node] for at in failed.values()) for node in range(len(_NODES))) / len(_NODES)
    return Inquiry(tuple(order), round(expected + unanswered * failing_nano_usd))


def _options(
    scenario: Scenario, visible: VisibleWorld, truth: SubtaskTruth, pieces: tuple[ContextPiece, ...]
) -> list[_Option]:
    constants, behaviours = load_behaviours(visible.config.catalog)
    shown = {
        decoy.decoy_id
        for decoy in scenario.hidden.decoys
        if any(place.text in piece.text for place in decoy.places for piece in pieces)
    }
    decoys = lures(truth, shown)
    found: list[_Option] = []
    for card in visible.cards.values():
        tokens = [text_tokens(card, piece.text) for piece in pieces]
        behaviour = behaviours[visible.real_ids[card.model_id]]
        for effort in Effort:
            chance = odds(constants, behaviour, truth, effort, 1.0, sum(tokens), decoys)
            line = _NORMAL.inv_cdf(min(1 - 1e-9, max(1e-9, chance)))
            right_at = tuple(
                _NORMAL.cdf((line - sqrt(constants.rho) * node) / sqrt(1.0 - constants.rho)) for node in _NODES
            )
            found.append(_Option(card.model_id, effort, _price(visible, card, effort, tokens), right_at))
    return found


def _price(visible: VisibleWorld, card: ModelCard, effort: Effort, tokens: list[int]) -> int:
    head = PromptPiece("head", text_tokens(card, visible.worker_head))
    pieces = (head, *(PromptPiece(str(place), count) for place, count in enumerate(tokens)))
    quote = ledger.quote_input(card, pieces, None, 0)
    return ledger.charge(card, quote, REPLY_CAP_TOKENS // 2 + card.reasoning_tokens[effort] * 3 // 4).nano_usd
