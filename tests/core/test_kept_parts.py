"""What the engine keeps or skips in order to be fast is what it would have made by the long way."""

from __future__ import annotations

from functools import cache
from itertools import chain, pairwise
from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from TokenOptEnv import grading, ledger, memory_manager, milestone_engine, policies, scenario_store
from TokenOptEnv.config import YARDSTICK, EpisodeConfig
from TokenOptEnv.episode_runtime import StepOutcome, advance, start
from TokenOptEnv.episode_state import InputQuote, PrefixCache, PromptPiece, evolve
from TokenOptEnv.evaluation.bench_mix import Script
from TokenOptEnv.guardrails import Guardrail
from TokenOptEnv.models import ItemKind, ModelCard, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.models.card import CacheRule, Tier
from TokenOptEnv.prompt import item_text
from TokenOptEnv.scenario import CacheEntry
from TokenOptEnv.simulators import semantic_cache, terms, tokens
from TokenOptEnv.simulators.semantic_cache import FLOOR, SemanticCache
from TokenOptEnv.world import build_world, text_tokens, visible_world

CASES = ("incident-medium-kafka-backpressure", "bugfix-medium-relaywork-lost-leases", "ci-medium-july-statement")
MARATHON = "bugfix-marathon-meterline-double-billing"


class Random:
    """A player that seldom does anything sensible, and is refused now and then."""

    def __init__(self, seed: int) -> None:
        self._policy = policies.make("random", seed)

    def next(self, seen: TokenOptEnvObservation) -> TokenOptEnvAction:
        return self._policy.act(seen)


class Mixed:
    """A player that does everything there is to do, some of it twice."""

    def __init__(self, number: int) -> None:
        self._script = Script(number)

    def next(self, seen: TokenOptEnvObservation) -> TokenOptEnvAction:
        return self._script.next(seen).action


@cache
def episodes(scenario_id: str) -> tuple[tuple[StepOutcome, ...], ...]:
    """Each is played twice: the second time from what the first has left behind."""
    scenario = scenario_store.load(scenario_id)
    found: list[tuple[StepOutcome, ...]] = []
    for seed in (0, 0, 1, 1, 2, 3):
        players: list[Random | Mixed] = [Random(seed)] if scenario_id == MARATHON else [Random(seed), Mixed(seed)]
        for player in players:
            outcome = start(build_world(scenario, seed, EpisodeConfig()), "kept")
            played = [outcome]
            while outcome.state.end is None:
                outcome = advance(outcome.state, player.next(outcome.observation), outcome.world)
                played.append(outcome)
            found.append(tuple(played))
    return tuple(found)


@pytest.mark.parametrize("scenario_id", [*CASES, MARATHON])
def test_every_item_and_its_price_are_as_made_anew(scenario_id: str) -> None:
    kinds = set()
    for outcome in chain.from_iterable(episodes(scenario_id)):
        visible = outcome.world.visible
        for item, piece in zip(outcome.state.memory, outcome.state.memory_pieces, strict=True):
            kinds.add(item.kind)
            assert piece == PromptPiece(item.item_id, memory_manager.item_tokens(item, visible, visible.controller))
            if item.kind is not ItemKind.SEGMENT:
                assert item.item_id == f"{item.kind.value}-{item.alias}"
                assert item.tokens == tokens.count_once(YARDSTICK, item_text(item))
                assert piece.tokens == text_tokens(visible.controller, item_text(item))
    assert len(kinds) >= (2 if scenario_id == MARATHON else len(ItemKind))


@pytest.mark.parametrize("scenario_id", [*CASES, MARATHON])
def test_no_milestone_is_missed_by_not_looking(scenario_id: str) -> None:
    reached = set()
    for before, after in chain.from_iterable(map(pairwise, episodes(scenario_id))):
        visible, state = after.world.visible, after.state
        looked_at = evolve(state, surfaced={**before.state.surfaced, **state.surfaced})
        due = [name for name in milestone_engine.listed_ids(visible) if milestone_engine._ALL[name](looked_at, visible)]
        assert set(due) <= set(state.milestone_ids)
        reached |= set(state.milestone_ids)
    assert len(reached) >= (1 if scenario_id == MARATHON else 3)


@pytest.mark.parametrize("scenario_id", CASES)
def test_what_a_compression_lost_is_told_as_if_looked_up_again(scenario_id: str) -> None:
    ends = [played[-1] for played in episodes(scenario_id)]
    facts = grading._key(scenario_store.load(scenario_id)).fact_texts
    runs = 0
    for state in [end.state for end in ends]:
        told = []
        for run in state.compressions:
            runs += 1
            before = "".join(item.text for item in run.before)
            held = [texts for texts in facts if any(text in before for text in texts)]
            lost = [texts for texts in held if not any(text in run.after.text for text in texts)]
            told += [f"{run.after.item_id} lost {len(lost)} needed line(s)"] * bool(lost)
        blind = [each for each in state.guardrail_events if each.guardrail_id == Guardrail.BLIND_COMPRESSION.value]
        assert [event.message for event in blind] == told
    assert runs >= 4


@pytest.mark.parametrize("scenario_id", [*CASES, MARATHON])
def test_what_is_shown_of_routes_and_compressions_is_as_added_up_anew(scenario_id: str) -> None:
    for state in [outcome.state for outcome in chain.from_iterable(episodes(scenario_id))]:
        assert state.routing.routes == state.routes
        assert state.routing.nano_usd == state.spent.routed_nano_usd == sum(route.nano_usd for route in state.routes)
        assert state.compression.runs == len(state.compressions)
        before = sum(item.tokens for run in state.compressions for item in run.before)
        after = sum(run.after.tokens for run in state.compressions)
        assert (state.compression.tokens_before, state.compression.tokens_after) == (before, after)


def card(rule: CacheRule | None) -> ModelCard:
    return ModelCard(
        model_id="m",
        name="M",
        provider="p",
        tier=Tier.MID,
        input_pico_usd=1_000,
        output_pico_usd=5_000,
        cache_read_pico_usd=100,
        cache_write_pico_usd=1_250,
        context_window_tokens=100_000,
        cache_rule=rule,
        vocabulary="qwen3",
        vocabulary_permille=1_000,
        reasoning_tokens={},
        first_token_ms=400,
        output_tokens_per_s=100,
        behaviour_note="",
    )


def by_the_rule(
    model: ModelCard, pieces: tuple[PromptPiece, ...], held: PrefixCache | None, clock_ms: int
) -> InputQuote:
    """Piece by piece, asking everything of every prompt."""
    rule, shared = model.cache_rule, 0
    if rule is not None and held is not None and clock_ms - held.used_at_ms <= rule.ttl_ms:
        for now, then in zip(pieces, held.pieces, strict=False):
            if now.key != then.key:
                break
            shared += now.tokens
    total = sum(piece.tokens for piece in pieces)
    cached = shared - shared % rule.block_tokens if rule is not None and shared >= rule.min_tokens else 0
    stays = total - pieces[-1].tokens
    written = stays - cached if rule is not None and rule.writes_cost and stays >= max(rule.min_tokens, cached) else 0
    fresh = total - cached
    return InputQuote(
        pieces,
        total,
        fresh,
        cached,
        written,
        (fresh - written) * 1_000 + written * 1_250 + cached * 100,
        total * 1_000,
        400 + fresh // 10,
    )


RULES = st.none() | st.builds(
    CacheRule,
    min_tokens=st.sampled_from([0, 40, 1_024]),
    block_tokens=st.sampled_from([1, 16, 128]),
    ttl_ms=st.just(1_000),
    writes_cost=st.booleans(),
)
SIZES = {key: 37 * (number + 1) ** 2 for number, key in enumerate("abcdefg")}
PIECES = st.lists(st.sampled_from(sorted(SIZES)), min_size=1, max_size=6, unique=True).map(
    lambda keys: tuple(PromptPiece(key, SIZES[key]) for key in keys)
)


@given(RULES, PIECES, st.none() | st.builds(PrefixCache, PIECES, st.integers(0, 2_000)), st.integers(2_000, 3_000))
def test_a_short_prompt_is_priced_by_the_same_rule_as_a_long_one(
    rule: CacheRule | None, pieces: tuple[PromptPiece, ...], held: PrefixCache | None, clock_ms: int
) -> None:
    model = card(rule)
    assert ledger.quote_input(model, pieces, held, clock_ms) == by_the_rule(model, pieces, held, clock_ms)


def similarities(entries: tuple[CacheEntry, ...], query: str) -> list[float]:
    """The cosine of two bags of weighted features, as the module defines it."""
    bags = [semantic_cache._bag([(entry.question, 1.0), (entry.text, semantic_cache._TEXT_SHARE)]) for entry in entries]
    asked = semantic_cache._bag([(query, 1.0)])

    def idf(feature: str) -> float:
        return log(1 + (1 + len(bags)) / (1 + sum(feature in bag for bag in bags)))

    def norm(bag: dict[str, float]) -> float:
        return sqrt(sum((weight * idf(feature)) ** 2 for feature, weight in bag.items())) or 1.0

    return [
        sum(weight * idf(feature) ** 2 * bag.get(feature, 0.0) for feature, weight in asked.items())
        / (norm(asked) * norm(bag))
        for bag in bags
    ]


@pytest.mark.parametrize("scenario_id", CASES)
def test_a_question_is_as_near_as_the_cosine_of_its_features_says(scenario_id: str) -> None:
    world = visible_world(scenario_store.load(scenario_id), EpisodeConfig())
    entries = tuple(world.public.cache_entries)
    nearest = SemanticCache(entries).nearest
    questions = [subtask.question for subtask in world.public.subtasks]
    for query in (*questions, *(f"{question} z7q {'x' * 200}" for question in questions), "retry retries retried"):
        expected = {
            entry.entry_id: near
            for entry, near in zip(entries, similarities(entries, query), strict=True)
            if near >= FLOOR + 0.0001
        }
        found = {match.entry.entry_id: match.similarity for match in nearest(query, len(entries))}
        assert expected.keys() <= found.keys()
        assert all(abs(found[name] - near) <= 0.00011 for name, near in expected.items())
        assert nearest(query, len(entries)) == SemanticCache(entries).nearest(query, len(entries))


def test_a_feature_weighs_the_same_in_every_term_that_has_it() -> None:
    """So that it does not matter from which term of a question it is taken."""
    weights: dict[str, float] = {}
    for term in terms.distinct("retry retries retrying backlog back-pressure pressure reads reader Read.only 0x7f3a"):
        for feature, weight in semantic_cache._features(term):
            assert weights.setdefault(feature, weight) == weight
    assert len(set(weights.values())) == 3
