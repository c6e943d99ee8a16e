"""A lower bound on the cost of any success, computed without the planner.

A relaxation: it keeps what every successful episode must pay and drops every constraint between the parts.

- Each question must be answered rightly: by an earlier result that says the same, or by a model that is right in
  this world on some number of its facts, which it read whole, or squeezed to the bare spans after the
  controller read them whole.
- A call pays for its head (as a cache read, where there is a cache), its question (always fresh) and its output;
  an escalation reasons half as long, but something was asked before it.
- Each decisive fact was read whole once by somebody. Segments that show several facts are shared out among
  them, which no set of segments can undercut.
- There are as many decisions as questions, a submission, and a first look. Each pays for the head, tail and words
  of its prompt, and for the answers found so far; what is below the provider's minimum is never cached, and
  what is cached was fresh once.
"""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv import controller
from TokenOptEnv.config import EpisodeConfig, Profile
from TokenOptEnv.episode_runtime import start
from TokenOptEnv.models import Effort, ModelCard
from TokenOptEnv.prompt import tail_text
from TokenOptEnv.scenario import Candidate, Fact, Scenario, SubtaskTruth
from TokenOptEnv.simulators.backend import RouteRequest
from TokenOptEnv.simulators.routing import SimulatedBackend
from TokenOptEnv.world import VisibleWorld, World, build_world, model_tokens, text_tokens

_PICO_PER_NANO = 1_000
_LEAST_WORDS_TOKENS = 3
"""No action is written in less."""
_LEAST_REPLY_TOKENS = 8
_HITS_PER_QUERY = 2


@dataclass(frozen=True, slots=True)
class _Answer:
    """The least that one right answer costs."""

    call_pico_usd: int
    """Head, question and output."""
    context_pico_usd: int
    held_tokens: int
    """Of its text, in the controller's vocabulary."""
    cached: bool


def lower_bound(scenario: Scenario, seed: int, config: EpisodeConfig) -> int:
    """In nano-dollars. No successful episode in this world costs less."""
    world = build_world(scenario, seed, config)
    answers = [_answer(scenario, world, truth) for truth in scenario.hidden.subtasks]
    context = sum(answer.context_pico_usd for answer in answers)
    pico = sum(answer.call_pico_usd for answer in answers)
    pico += max(context, _reading_pico_usd(scenario, world.visible))
    looked_up = sum(answer.cached for answer in answers)
    decisions = 1 + len(answers) - looked_up + -(-looked_up // _HITS_PER_QUERY)
    if looked_up < len(answers):
        decisions += 1
    pico += _decisions_pico_usd(world, decisions, [answer.held_tokens for answer in answers])
    return pico // _PICO_PER_NANO


def _answer(scenario: Scenario, world: World, truth: SubtaskTruth) -> _Answer:
    right = [candidate for candidate in truth.candidates if candidate.right]
    held = min(text_tokens(world.visible.controller, _least_text(candidate)) for candidate in right)
    for entry in scenario.public.cache_entries:
        if entry.subtask_id == truth.subtask_id and any(entry.values == candidate.values for candidate in right):
            return _Answer(0, 0, held, cached=True)
    question = next(each.question for each in scenario.public.subtasks if each.subtask_id == truth.subtask_id)
    best: _Answer | None = None
    for card in world.visible.cards.values():
        for effort in Effort:
            context = _context_pico_usd(scenario, world, truth, card, effort)
            if context is None:
                continue
            call = _call_pico_usd(world, truth, card, effort, question, right)
            if best is None or call + context < best.call_pico_usd + best.context_pico_usd:
                best = _Answer(call, context, held, cached=False)
    return best or _Answer(0, 0, held, cached=False)


def _context_pico_usd(
    scenario: Scenario, world: World, truth: SubtaskTruth, card: ModelCard, effort: Effort
) -> int | None:
    """The least this model must read to be right; None where it is wrong whatever it reads."""
    backend = world.backend
    assert isinstance(backend, SimulatedBackend)
    real_id = world.visible.real_ids[card.model_id]
    line = backend.threshold(truth.subtask_id, real_id)
    facts = [fact for fact in scenario.hidden.facts if fact.fact_id in truth.needs]
    whole = _least_first(_segment_tokens(facts, world.visible, card))
    by_controller = _least_first(_segment_tokens(facts, world.visible, world.visible.controller))
    spans = _least_first([min(text_tokens(card, place.text) for place in fact.places) for fact in facts])
    again = _least_again(card)
    best: int | None = None
    for count in range(len(facts) + 1):
        share = count / len(facts) if facts else 1.0
        costs = []
        if line < backend.odds_at(truth.subtask_id, real_id, effort, share, whole[count], 0):
            costs.append(whole[count] * again)
        if line < backend.odds_at(truth.subtask_id, real_id, effort, share, spans[count], 0):
            squeezed = by_controller[count] * world.visible.controller.input_pico_usd + spans[count] * again
            costs.append(squeezed)
        if costs:
            best = min(costs) if best is None else min(best, *costs)
    return best


def _call_pico_usd(
    world: World, truth: SubtaskTruth, card: ModelCard, effort: Effort, question: str, right: list[Candidate]
) -> int:
    visible = world.visible
    reply = min(text_tokens(card, _least_text(candidate)) for candidate in right)
    reasoning = _reasoning_tokens(world, truth, card, effort)
    asked = _input_pico_usd(visible, card, question)
    direct = asked + (reply + reasoning) * card.output_pico_usd
    if visible.config.profile is Profile.V1:
        return direct
    before = [
        _input_pico_usd(visible, other, question)
        + (_LEAST_REPLY_TOKENS + min(_reasoning_tokens(world, truth, other, each) for each in Effort))
        * other.output_pico_usd
        for other in visible.cards.values()
        if other.model_id != card.model_id
    ]
    escalated = asked + (reply + reasoning // 2) * card.output_pico_usd + min(before, default=direct)
    return min(direct, escalated)


def _input_pico_usd(visible: VisibleWorld, card: ModelCard, question: str) -> int:
    head = text_tokens(card, visible.worker_head) * _least_again(card)
    return head + text_tokens(card, question) * card.input_pico_usd


def _reasoning_tokens(world: World, truth: SubtaskTruth, card: ModelCard, effort: Effort) -> int:
    """What the model would spend: drawn per question and model, whatever it is given to read."""
    request = RouteRequest(
        subtask_id=truth.subtask_id,
        question="",
        slot_value=truth.slot_value,
        model_id=world.visible.real_ids[card.model_id],
        effort=effort,
        context=(),
        context_tokens=0,
    )
    return world.backend.answer(request).reasoning_tokens


def _reading_pico_usd(scenario: Scenario, visible: VisibleWorld) -> int:
    """Every decisive fact, read whole once at the least fresh price there is."""
    path = {name for field in scenario.hidden.fields for name in field.path}
    facts = [fact for fact in scenario.hidden.facts if fact.fact_id in path]
    readers = (visible.controller, *visible.cards.values())
    per_reader = [
        [tokens * card.input_pico_usd for tokens in _segment_tokens(facts, visible, card)] for card in readers
    ]
    return sum(min(costs) for costs in zip(*per_reader, strict=True))


def _segment_tokens(facts: list[Fact], visible: VisibleWorld, card: ModelCard) -> list[int]:
    """By fact: its share of the shortest segment that shows it, shared among the facts that the segment shows."""
    shows: dict[str, int] = {}
    for fact in facts:
        for name in {place.segment_id for place in fact.places}:
            shows[name] = shows.get(name, 0) + 1
    return [
        min(
            model_tokens(card, visible.segment_tokens(card.vocabulary, place.segment_id)) // shows[place.segment_id]
            for place in fact.places
        )
        for fact in facts
    ]


def _least_first(tokens: list[int]) -> list[int]:
    """The sum of the least so many, from none to all."""
    sums = [0]
    for count in sorted(tokens):
        sums.append(sums[-1] + count)
    return sums


def _decisions_pico_usd(world: World, decisions: int, answers: list[int]) -> int:
    visible = world.visible
    card = visible.controller
    shown = controller.screen(start(world, "bound").state, visible)
    tail = text_tokens(card, tail_text(shown.memory, None, shown.budgets, (), must_submit=False))
    head = min(text_tokens(card, phase.head) for phase in visible.phases)
    each = tail * card.input_pico_usd + _LEAST_WORDS_TOKENS * card.output_pico_usd
    held = sum(answers) * card.input_pico_usd
    again = _least_again(card)
    # An answer stays in every later prompt: the longest last, each one decision before the next.
    reread = sum(tokens * place for place, tokens in enumerate(sorted(answers, reverse=True)))
    later = (decisions - 1) * head
    rule = card.cache_rule
    if rule is None or head >= rule.min_tokens:
        kept = later * again + held + reread * again
    else:
        uncached = later * card.input_pico_usd + held + reread * card.input_pico_usd
        filled = rule.min_tokens * card.input_pico_usd + max(0, decisions - 2) * rule.min_tokens * again
        kept = min(uncached, filled)
    return head * card.input_pico_usd + kept + decisions * each


def _least_again(card: ModelCard) -> int:
    """The least a token costs that was in a prompt before."""
    if card.cache_rule is None:
        return card.input_pico_usd
    return min(card.input_pico_usd, card.cache_read_pico_usd)


def _least_text(candidate: Candidate) -> str:
    return "; ".join(f"{name}={value}" for name, value in candidate.values.items())
