"""The simulated models: calibrated odds, one fixed draw per question and model, and no tells."""

from __future__ import annotations

import subprocess
import sys
from bisect import bisect_left, bisect_right
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import sqrt
from statistics import NormalDist, fmean

import pytest

from TokenOptEnv.calibration.correlation import moved_to
from TokenOptEnv.calibration.figures import load_figures
from TokenOptEnv.catalog import CATALOGS, load_behaviours, load_catalog
from TokenOptEnv.config import Difficulty
from TokenOptEnv.errors import UnknownName
from TokenOptEnv.models import ArtifactKind, Effort, FieldKind, Slot
from TokenOptEnv.scenario import QuestionKind, Scenario, SubtaskTruth
from TokenOptEnv.simulators.backend import ContextPiece, RouteReply, RouteRequest
from TokenOptEnv.simulators.routing import SimulatedBackend, exact_context, odds, threshold, world_draw
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply

ALL_MODELS = tuple(load_catalog("measured").cards)
WORLDS = 1_200
TOKENS = 600


def _noise(tag: str) -> str:
    return "\n".join(
        f"10:{n // 60:02d}:{n % 60:02d} INFO {tag} request {n} served in {17 + n % 9} ms" for n in range(40)
    )


@cache
def case() -> Scenario:
    """Two facts (one in two logs), a decoy; a causal question, and a lookup with a slot that the first one fills."""
    builder = CaseBuilder("incident-easy-pool", "incident", Difficulty.EASY, "Pool", "Checkout fails. Why?", "2.4.0")
    for letter, line in (
        ("a", "10:02:11 ERROR checkout pool exhausted: 50 of 50 in use"),
        ("b", "10:00:02 WARN deploy 41f sets pool.size=50"),
        ("c", "10:01:30 ERROR node-7 disk at 97 percent"),
        ("d", "10:02:12 ERROR gateway: upstream says pool exhausted: 50 of 50 in use"),
    ):
        text = f"{_noise(letter)}\n{line}\n{_noise(letter * 2)}"
        builder.artifact(f"log-{letter}", ArtifactKind.LOG, f"Log {letter}", text)
    seen_twice = [Quote(log, "pool exhausted: 50 of 50") for log in ("log-a", "log-d")]
    builder.fact("exhausted", "the pool is empty", *seen_twice)
    builder.fact("deploy", "the deploy made it small", Quote("log-b", "deploy 41f sets pool.size=50"))
    builder.decoy("disk", "a full disk elsewhere", Quote("log-c", "node-7 disk at 97 percent"))
    builder.answer_field("cause", "What failed?", FieldKind.TEXT, ["pool"], ["exhausted", "deploy"])
    builder.answer_field("size", "Which size?", FieldKind.TEXT, ["50"], ["deploy"])
    builder.subtask(
        "why",
        "Why does checkout fail?",
        ["cause"],
        QuestionKind.CAUSAL,
        lexical=False,
        needs=["exhausted", "deploy"],
        right=Reply({"cause": "pool"}, "The connection pool is too small."),
        wrong=[
            Reply({"cause": "disk"}, "The disk is full.", ("disk",)),
            Reply({"cause": "network"}, "The network is slow."),
            Reply({"cause": "cpu"}, "The processor is busy."),
        ],
    )
    builder.subtask(
        "size",
        "Which size does {deploy} set?",
        ["size"],
        QuestionKind.LOOKUP,
        lexical=True,
        needs=["deploy"],
        right=Reply({"size": "50"}, "It sets 50."),
        wrong=[Reply({"size": "97"}, "It sets 97.", ("disk",))],
        slot=Slot(name="deploy", from_subtask_id="why"),
        slot_value="41f",
    )
    return builder.build()


def _truth(subtask_id: str = "why") -> SubtaskTruth:
    return next(truth for truth in case().hidden.subtasks if truth.subtask_id == subtask_id)


def _segment(segment_id: str) -> ContextPiece:
    texts = {s.segment_id: s.text for artifact in case().public.artifacts for s in artifact.segments}
    return ContextPiece(segment_id, texts[segment_id], (segment_id,))


EXACT = exact_context(case(), _truth())
HALF = EXACT[:1]
DECOY = _segment(case().hidden.decoys[0].places[0].segment_id)
FACT_SEGMENTS = {place.segment_id for fact in case().hidden.facts for place in fact.places}
IRRELEVANT = next(
    _segment(segment.segment_id)
    for artifact in case().public.artifacts
    for segment in artifact.segments
    if segment.segment_id not in FACT_SEGMENTS and segment.segment_id != DECOY.item_id
)


def _ask(
    model_id: str = "gpt-5-mini",
    context: tuple[ContextPiece, ...] = EXACT,
    effort: Effort = Effort.MEDIUM,
    tokens: int = TOKENS,
) -> RouteRequest:
    return RouteRequest("why", "Why does checkout fail?", None, model_id, effort, context, tokens)


def _ask_size(slot_value: str | None, context: tuple[ContextPiece, ...] = EXACT) -> RouteRequest:
    return RouteRequest("size", "Which size?", slot_value, "gpt-5", Effort.HIGH, context, TOKENS)


@cache
def _unchosen_worlds(catalog: str = "measured") -> tuple[SimulatedBackend, ...]:
    everybody = tuple(load_catalog(catalog).cards)
    return tuple(SimulatedBackend(case(), index, catalog, everybody, redraw=0) for index in range(WORLDS))


def _replies(request: RouteRequest, worlds: int = WORLDS) -> list[RouteReply]:
    return [world.answer(request) for world in _unchosen_worlds()[:worlds]]


def _is_right(reply: RouteReply) -> bool:
    return reply.values == {"cause": "pool"}


def _accuracy(request: RouteRequest) -> float:
    return fmean(_is_right(reply) for reply in _replies(request))


def _odds_of(request: RouteRequest, share: float, decoys: int) -> float:
    constants, behaviours = load_behaviours("measured")
    behaviour = behaviours[request.model_id]
    return odds(constants, behaviour, _truth(), request.effort, share, request.context_tokens, decoys)


@pytest.mark.parametrize("model_id", ["llama-3.1-8b", "gpt-5-mini", "claude-opus-4.5"])
@pytest.mark.parametrize("effort", [Effort.LOW, Effort.HIGH])
@pytest.mark.parametrize(
    ("context", "share", "decoys"),
    [(EXACT, 1.0, 0), (HALF, 0.5, 0), ((*EXACT, DECOY), 1.0, 1), ((DECOY, *HALF), 0.5, 1)],
)
def test_models_are_right_as_often_as_their_odds_say(
    model_id: str, effort: Effort, context: tuple[ContextPiece, ...], share: float, decoys: int
) -> None:
    request = _ask(model_id, context, effort)
    expected = _odds_of(request, share, decoys)
    assert abs(_accuracy(request) - expected) < 3.5 * sqrt(expected * (1.0 - expected) / WORLDS)


@pytest.mark.parametrize("model_id", ["gpt-4o-mini", "claude-sonnet-4.6"])
def test_ten_thousand_draws_are_right_as_often_as_the_odds_say(model_id: str) -> None:
    """Without the choice of solvable worlds, which would bias them."""
    draws = 10_000
    request = _ask(model_id, (*EXACT, DECOY), tokens=2_500)
    expected = _odds_of(request, 1.0, 1)
    backends = (SimulatedBackend(case(), index, "measured", (model_id,), redraw=0) for index in range(draws))
    right = fmean(_is_right(backend.answer(request)) for backend in backends)
    assert abs(right - expected) < 3.0 * sqrt(expected * (1.0 - expected) / draws)


def test_thresholds_are_uniform_over_worlds() -> None:
    drawn = sorted(threshold("case", world, 0, "why", "gpt-5", rho=0.7) for world in range(2_000))
    gaps = [abs(value - (rank + 0.5) / len(drawn)) for rank, value in enumerate(drawn)]
    assert max(gaps) < 1.6 / sqrt(len(drawn))


def test_a_stronger_model_is_mostly_right_where_a_weaker_one_is() -> None:
    weak, strong = _replies(_ask("gpt-4o-mini")), _replies(_ask("claude-sonnet-4.6"))
    both = [_is_right(b) for a, b in zip(weak, strong, strict=True) if _is_right(a)]
    assert fmean(both) > 0.97


def test_a_second_opinion_of_an_equal_tells_something_new() -> None:
    """Where one mid-tier model fails, another is right less often than usual, but far from never."""
    first, second = _replies(_ask("deepseek-v3.2")), _replies(_ask("gpt-5-mini"))
    after_failure = fmean(_is_right(b) for a, b in zip(first, second, strict=True) if not _is_right(a))
    assert 0.25 < after_failure < _accuracy(_ask("gpt-5-mini")) - 0.2


def test_errors_correlate_as_in_the_published_router_benchmark() -> None:
    """The catalog's spread on code, moved to the published best single model: an oracle does as well as published."""
    routing = load_figures().routing
    constants, behaviours = load_behaviours("measured")
    shares = moved_to([b.ceiling[QuestionKind.CODE] for b in behaviours.values()], routing.best_single / 100.0)
    solved = [
        any(
            threshold("router", question, 0, "q", model_id, rho=constants.rho) < share
            for model_id, share in zip(behaviours, shares, strict=True)
        )
        for question in range(3_000)
    ]
    assert abs(fmean(solved) - routing.oracle / 100.0) < 0.02


def test_asking_twice_gives_the_same_reply() -> None:
    for model_id in ALL_MODELS:
        world = SimulatedBackend(case(), 3, "measured", ALL_MODELS)
        again = SimulatedBackend(case(), 3, "measured", ALL_MODELS)
        assert world.answer(_ask(model_id)) == world.answer(_ask(model_id)) == again.answer(_ask(model_id))


def test_irrelevant_context_never_rerolls_an_answer() -> None:
    """At equal length the reply is the very same; counted longer, it can only turn from right to wrong."""
    for model_id in ("gpt-4o-mini", "gpt-5-mini"):
        for world in _unchosen_worlds()[:300]:
            clean = world.answer(_ask(model_id))
            assert world.answer(_ask(model_id, (IRRELEVANT, *EXACT))) == clean
            longer = world.answer(_ask(model_id, (IRRELEVANT, *EXACT), tokens=TOKENS + 300))
            assert _is_right(clean) or not _is_right(longer)


def test_more_effort_more_facts_and_fewer_decoys_never_turn_a_right_answer_wrong() -> None:
    steps = [
        _ask("gpt-5-mini", (*HALF, DECOY), Effort.LOW),
        _ask("gpt-5-mini", (*EXACT, DECOY), Effort.LOW),
        _ask("gpt-5-mini", EXACT, Effort.LOW),
        _ask("gpt-5-mini", EXACT, Effort.MEDIUM),
        _ask("gpt-5-mini", EXACT, Effort.HIGH),
    ]
    for world in _unchosen_worlds()[:300]:
        rights = [_is_right(world.answer(request)) for request in steps]
        assert rights == sorted(rights)
    means = [_accuracy(request) for request in steps]
    assert all(lower < higher for lower, higher in pairwise(means))


def test_wrong_answers_do_not_flicker() -> None:
    """In one world all models that are wrong on the same evidence say the same wrong thing."""
    for world in _unchosen_worlds()[:200]:
        for context in (EXACT, (*EXACT, DECOY)):
            wrong = {
                reply.text
                for model_id in ALL_MODELS
                for effort in Effort
                if not _is_right(reply := world.answer(_ask(model_id, context, effort)))
            }
            assert len(wrong) <= 1


def test_a_wrong_answer_that_rests_on_a_decoy_needs_the_decoy_in_the_context() -> None:
    assert all(reply.values != {"cause": "disk"} for reply in _replies(_ask("llama-3.1-8b")))
    misled = _replies(_ask("llama-3.1-8b", (*EXACT, DECOY)))
    assert fmean(reply.values == {"cause": "disk"} for reply in misled) > 0.15


def test_right_and_wrong_answers_cite_equally_many_segments_all_from_the_context() -> None:
    for context in (EXACT, HALF, (DECOY, *EXACT), (IRRELEVANT,)):
        sources = {source for piece in context for source in piece.source_ids}
        replies = [reply for reply in _replies(_ask("gpt-oss-120b", context)) if reply.values]
        counts = {_is_right(reply): len(reply.cites) for reply in replies}
        assert counts[True] == counts[False]
        assert all(len(reply.cites) == counts[True] and set(reply.cites) <= sources for reply in replies)


def test_a_right_answer_cites_the_place_of_every_fact_it_read_in_context_order() -> None:
    for context in (EXACT, (IRRELEVANT, *reversed(EXACT), DECOY)):
        expected = tuple(piece.item_id for piece in context if piece.item_id in FACT_SEGMENTS)
        assert {reply.cites for reply in _replies(_ask("gpt-5", context)) if _is_right(reply)} == {expected}


def test_a_fact_read_in_its_second_place_is_cited_there() -> None:
    first, second = (place.segment_id for place in case().hidden.facts[0].places)
    context = (_segment(second), EXACT[1])
    right = [reply for reply in _replies(_ask("gpt-5", context)) if _is_right(reply)]
    assert first not in {source for piece in context for source in piece.source_ids}
    assert {reply.cites for reply in right} == {(second, EXACT[1].item_id)}


def test_a_misled_answer_cites_what_misled_it() -> None:
    misled = [reply for reply in _replies(_ask("gpt-4o-mini", (*EXACT, DECOY))) if reply.values == {"cause": "disk"}]
    assert misled
    assert all(DECOY.item_id in reply.cites for reply in misled)


def test_a_fact_survives_compression_only_if_its_span_does() -> None:
    sources = tuple(piece.item_id for piece in EXACT)
    kept = ContextPiece("k1", "… pool exhausted: 50 of 50 … deploy 41f sets pool.size=50 …", sources)
    cut = ContextPiece("k2", "… pool exhausted: <*> … deploy <*> sets pool.size=<*> …", sources)
    world = _unchosen_worlds()[0]
    assert world.answer(_ask("gpt-5", (kept,))) == world.answer(_ask("gpt-5", EXACT))
    assert _accuracy(_ask("gpt-5", (kept,))) > 0.8
    assert _accuracy(_ask("gpt-5", (cut,))) < 0.1


def test_without_any_fact_a_model_abstains_or_guesses() -> None:
    constants, _ = load_behaviours("measured")
    replies = _replies(_ask("gpt-5", (IRRELEVANT,)))
    silent = [reply for reply in replies if not reply.values]
    assert abs(len(silent) / WORLDS - constants.insufficient_share) < 0.05
    assert all(reply.confidence <= 0.25 and reply.cites == () for reply in silent)
    spoken = [_is_right(reply) for reply in replies if reply.values]
    assert abs(fmean(spoken) - constants.guess) < 0.04


def test_a_model_that_has_no_wrong_answer_left_says_that_the_evidence_does_not_suffice() -> None:
    """The lookup's only wrong candidate rests on the decoy."""
    worlds = _unchosen_worlds()
    without = [world.answer(_ask_size("commit 9", EXACT)).values for world in worlds]
    with_decoy = [world.answer(_ask_size("commit 9", (*EXACT, DECOY))).values for world in worlds]
    assert all(values in ({}, {"size": "50"}) for values in without)
    assert {"size": "97"} in with_decoy


def test_a_wrong_slot_makes_the_evidence_worthless() -> None:
    worlds = _unchosen_worlds()
    assert fmean(world.answer(_ask_size(" 41F ")).values == {"size": "50"} for world in worlds) > 0.95
    for slot_value in (None, "42a"):
        assert fmean(world.answer(_ask_size(slot_value)).values == {"size": "50"} for world in worlds) < 0.06


def _auroc(replies: list[RouteReply]) -> float:
    """The chance that a right answer is stated with more confidence than a wrong one; ties count half."""
    wrong = sorted(reply.confidence for reply in replies if not _is_right(reply))
    right = [reply.confidence for reply in replies if _is_right(reply)]
    wins = sum(bisect_left(wrong, c) + bisect_right(wrong, c) for c in right) / 2
    return wins / (len(right) * len(wrong))


@pytest.mark.parametrize(
    ("catalog", "model_id"), [(catalog, model_id) for catalog in CATALOGS for model_id in load_catalog(catalog).cards]
)
def test_confidence_tells_right_from_wrong_a_little(catalog: str, model_id: str) -> None:
    """One question in many worlds, with the evidence half there: neither right nor wrong answers are rare."""
    limits = load_figures().discrimination
    replies = [world.answer(_ask(model_id, HALF)) for world in _unchosen_worlds(catalog)]
    assert limits.low <= _auroc(replies) <= limits.high


def test_confidence_over_all_models_and_contexts_is_no_oracle() -> None:
    pooled = [reply for m in ALL_MODELS for c in (EXACT, HALF, (*EXACT, DECOY)) for reply in _replies(_ask(m, c), 300)]
    assert 0.55 <= _auroc(pooled) <= 0.70


@pytest.mark.parametrize("model_id", ALL_MODELS)
def test_models_are_overconfident_where_they_know_little(model_id: str) -> None:
    """Humanity's Last Exam, SWE-bench Pro: 55 to 96 % stated where 8 to 35 % were right."""
    replies = _replies(_ask(model_id, HALF))
    stated = fmean(reply.confidence for reply in replies)
    assert stated > fmean(map(_is_right, replies)) + 0.15
    assert all(0.05 <= reply.confidence <= 0.99 for reply in replies)


def test_reasoning_stays_between_half_and_all_of_what_the_card_says() -> None:
    for model_id in ALL_MODELS:
        for effort in Effort:
            most = load_catalog("measured").card(model_id).reasoning_tokens[effort]
            drawn = [world.answer(_ask(model_id, effort=effort)).reasoning_tokens for world in _unchosen_worlds()[:40]]
            assert all(most // 2 <= tokens <= most for tokens in drawn)
            assert most == 0 or len(set(drawn)) > 10


@pytest.mark.parametrize("catalog", CATALOGS)
def test_in_every_world_some_model_of_the_menu_is_right_on_exactly_the_needed_facts(catalog: str) -> None:
    menu = case().public.menus[catalog]
    for index in range(60):
        world = SimulatedBackend(case(), index, catalog, menu)
        asked = [_ask(m, EXACT, e) for m in menu for e in Effort]
        assert any(_is_right(world.answer(request)) for request in asked)
        sized = [
            replace(_ask_size("41f", EXACT[1:]), model_id=m, effort=e, context_tokens=300) for m in menu for e in Effort
        ]
        assert any(world.answer(request).values == {"size": "50"} for request in sized)


def test_a_world_is_redrawn_only_when_nobody_can_answer() -> None:
    weak = ("llama-3.1-8b",)
    drawn = [world_draw(case(), index, "measured", weak) for index in range(200)]
    constants, behaviours = load_behaviours("measured")
    chance = odds(constants, behaviours[weak[0]], _truth(), Effort.HIGH, 1.0, TOKENS, 0)
    for index, redraw in enumerate(drawn):
        for earlier in range(redraw):
            why = threshold(case().scenario_id, index, earlier, "why", weak[0], rho=constants.rho)
            size = threshold(case().scenario_id, index, earlier, "size", weak[0], rho=constants.rho)
            assert why >= chance - 0.02 or size >= 0.7
    assert drawn.count(0) < 160
    assert max(drawn) > 2


def fingerprint() -> str:
    """Every reply of one world, to all models, on good and on misleading evidence."""
    world = SimulatedBackend(case(), 1, "measured", ALL_MODELS)
    contexts = (EXACT, HALF, (DECOY, *HALF), (IRRELEVANT,))
    return "\n".join(repr(world.answer(_ask(m, c, e))) for m in ALL_MODELS for c in contexts for e in Effort)


@pytest.mark.parametrize("hash_seed", ["0", "77"])
def test_replies_are_the_same_in_every_process(hash_seed: str) -> None:
    code = f"import runpy; print(runpy.run_path({__file__!r})['fingerprint']())"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": hash_seed}
    )
    assert done.stdout.strip() == fingerprint()


def test_a_model_that_is_not_on_the_menu_is_refused_with_the_nearest_name() -> None:
    world = SimulatedBackend(case(), 0, "measured", ("gpt-5-mini", "gpt-5"))
    with pytest.raises(UnknownName, match="did you mean 'gpt-5-mini'"):
        world.answer(_ask("gpt-5-nano"))


def test_two_equal_models_are_right_together_as_often_as_their_correlation_says() -> None:
    """Against the copula, integrated over the shared part."""
    rho, share = 0.7, 0.5
    nodes = [NormalDist().inv_cdf((step + 0.5) / 400) for step in range(400)]
    given = [NormalDist().cdf(-sqrt(rho) * z / sqrt(1.0 - rho)) for z in nodes]
    expected = fmean(p * p for p in given)
    both = fmean(
        all(threshold("pair", world, 0, "q", model_id, rho=rho) < share for model_id in ("a", "b"))
        for world in range(4_000)
    )
    assert abs(both - expected) < 0.025
