"""What the literature found comes out of the simulator, which knows models and contexts but no strategy.

Each test plays a few lines of strategy of its own against the simulated models and bills it with the ledger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean

import pytest

from TokenOptEnv.catalog import load_behaviours, load_catalog
from TokenOptEnv.config import Difficulty, EpisodeConfig
from TokenOptEnv.episode_state import PrefixCache, PromptPiece
from TokenOptEnv.ledger import charge, quote_input
from TokenOptEnv.models import ArtifactKind, Effort, FieldKind, Tier
from TokenOptEnv.scenario import QuestionKind, Scenario
from TokenOptEnv.simulators.backend import ContextPiece, RouteReply, RouteRequest
from TokenOptEnv.simulators.odds import log_odds, odds
from TokenOptEnv.simulators.routing import SimulatedBackend, exact_context
from TokenOptEnv.simulators.tokens import count
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply

CARDS = load_catalog("measured").cards
LINES = 3_300
ANSWER_TOKENS = 60


def _log() -> str:
    """A long log of one service: routine, a few warnings, the cause in the middle and what it led to at the end."""
    lines = [
        f"2026-03-04T10:{n // 60 % 60:02d}:{n % 60:02d}Z INFO worker-{n % 7} request {4_000 + n} took {17 + n % 9} ms"
        for n in range(LINES)
    ]
    lines[LINES // 3] = "2026-03-04T10:18:20Z ERROR node-7 disk at 97 percent"
    lines[LINES // 2] = "2026-03-04T10:27:30Z WARN deploy 41f sets pool.size=5"
    lines[-3] = "2026-03-04T10:54:57Z ERROR checkout pool exhausted: 5 of 5 in use"
    return "\n".join(lines)


@cache
def case() -> Scenario:
    builder = CaseBuilder("ci-hard-long-log", "ci", Difficulty.HARD, "Long log", "Checkout fails. Why?", "2.4.0")
    builder.artifact("log", ArtifactKind.LOG, "Log", _log())
    builder.fact("exhausted", "the pool is empty", Quote("log", "pool exhausted: 5 of 5"))
    builder.fact("deploy", "the deploy made it small", Quote("log", "deploy 41f sets pool.size=5"))
    builder.decoy("disk", "a full disk elsewhere", Quote("log", "node-7 disk at 97 percent"))
    builder.answer_field("cause", "What failed?", FieldKind.TEXT, ["pool"], ["exhausted", "deploy"])
    for kind in (QuestionKind.CAUSAL, QuestionKind.CODE):
        builder.subtask(
            kind.value,
            "Why does checkout fail?",
            ["cause"],
            kind,
            lexical=False,
            needs=["exhausted", "deploy"],
            right=Reply({"cause": "pool"}, "The connection pool is too small."),
            wrong=[
                Reply({"cause": "disk"}, "The disk is full.", ("disk",)),
                Reply({"cause": "network"}, "The network is slow."),
            ],
        )
    return builder.build()


RAW = tuple(
    ContextPiece(segment.segment_id, segment.text, (segment.segment_id,))
    for artifact in case().public.artifacts
    for segment in artifact.segments
)
EXACT = exact_context(case(), case().hidden.subtasks[0])


def _grep_and_tail() -> tuple[ContextPiece, ...]:
    """Lines that look bad with a neighbour on each side, and the last lines of all."""
    lines = _log().split("\n")
    bad = [n for n, line in enumerate(lines) if "ERROR" in line or "WARN" in line]
    kept = sorted({near for n in bad for near in (n - 1, n, n + 1) if near < LINES} | set(range(LINES - 60, LINES)))
    sources = tuple(piece.item_id for piece in RAW)
    return (ContextPiece("reduced", "\n".join(lines[n] for n in kept), sources),)


@cache
def _worlds(number: int) -> tuple[SimulatedBackend, ...]:
    return tuple(SimulatedBackend(case(), index, "measured", tuple(CARDS), redraw=0) for index in range(number))


def _tokens(model_id: str, context: Sequence[ContextPiece]) -> int:
    card = CARDS[model_id]
    return sum(-(-count(card.vocabulary, piece.text) * card.vocabulary_permille // 1000) for piece in context)


def _price(model_id: str, tokens: int, effort: Effort = Effort.MEDIUM) -> int:
    card = CARDS[model_id]
    quote = quote_input(card, (PromptPiece("context", tokens),), None, 0)
    return charge(card, quote, ANSWER_TOKENS + card.reasoning_tokens[effort] * 3 // 4).nano_usd


def _replies(
    model_id: str, context: tuple[ContextPiece, ...], tokens: int, worlds: int, subtask_id: str = "causal"
) -> list[RouteReply]:
    request = RouteRequest(subtask_id, "Why?", None, model_id, Effort.MEDIUM, context, tokens)
    return [world.answer(request) for world in _worlds(worlds)]


def _is_right(reply: RouteReply) -> bool:
    return reply.values == {"cause": "pool"}


@pytest.mark.parametrize("model_id", ["gpt-5-nano", "gpt-oss-120b", "gpt-5-mini", "glm-4.5", "gpt-5"])
def test_grep_and_tail_beat_the_raw_log_at_a_tenth_of_its_price(model_id: str) -> None:
    """LogDx-CI: .670 at $.031 against .353 at $.392."""
    reduced = _grep_and_tail()
    raw_tokens, reduced_tokens = _tokens(model_id, RAW), _tokens(model_id, reduced)
    assert raw_tokens < CARDS[model_id].context_window_tokens
    raw = fmean(map(_is_right, _replies(model_id, RAW, raw_tokens, 150)))
    cut = fmean(map(_is_right, _replies(model_id, reduced, reduced_tokens, 150)))
    assert cut > raw + 0.1
    assert _price(model_id, reduced_tokens) <= _price(model_id, raw_tokens) / 10


def test_a_model_that_is_cheaper_by_the_token_can_be_dearer_by_the_solved_task() -> None:
    """SWE-bench bash-only: GPT-5 nano takes $.038 a task and solves 34.8 %, GPT-5 mini $.035 and 59.8 %.

    A task is five code questions, all of which must be right; an agent pays for its own prompt at each.
    """
    questions, tokens, tasks = 5, 3_000, 300
    assert CARDS["gpt-5-nano"].input_pico_usd < CARDS["gpt-5-mini"].input_pico_usd
    assert CARDS["gpt-5-nano"].output_pico_usd < CARDS["gpt-5-mini"].output_pico_usd

    def usd_per_solved(model_id: str) -> float:
        right = list(map(_is_right, _replies(model_id, EXACT, tokens, questions * tasks, "code")))
        solved = sum(all(right[first : first + questions]) for first in range(0, len(right), questions))
        spent = tasks * (questions * _price(model_id, tokens) + _decisions_nano_usd(questions))
        return spent / solved

    assert usd_per_solved("gpt-5-nano") > usd_per_solved("gpt-5-mini")


def _decisions_nano_usd(steps: int) -> int:
    """What the default controller pays to decide that often: a prompt of 2,000 tokens that grows, cached as it is."""
    card = CARDS[EpisodeConfig().controller_model]
    held: PrefixCache | None = None
    spent = 0
    for step in range(steps):
        pieces = (PromptPiece("head", 2_000), *(PromptPiece(f"item {n}", 100) for n in range(step)))
        pieces = (*pieces, PromptPiece(f"tail {step}", 150))
        spent += charge(card, quote_input(card, pieces, held, 0), 24).nano_usd
        held = PrefixCache(pieces, 0)
    return spent


@dataclass(frozen=True)
class Asked:
    """What one model made of each question, and what a question cost."""

    right: tuple[bool, ...]
    cause: tuple[str, ...]
    felt: tuple[float, ...]
    """Stated confidence, in log-odds."""
    nano_usd: int


QUESTIONS = 2_000
TWO_CHEAPER_AND_THE_STRONGEST = ("gpt-oss-120b", "gpt-5-mini", "claude-opus-4.5")
THRESHOLDS = [step / 5 for step in range(-10, 40)]
SAME = tuple(range(QUESTIONS))
SHUFFLED = tuple(Stream("shuffle").shuffled(SAME))
"""Whose confidence a question shows: its own, or anybody's."""


@cache
def _asked(model_id: str, tokens: int) -> Asked:
    replies = _replies(model_id, EXACT, tokens, QUESTIONS)
    return Asked(
        right=tuple(map(_is_right, replies)),
        cause=tuple(reply.values.get("cause", "") for reply in replies),
        felt=tuple(log_odds(reply.confidence) for reply in replies),
        nano_usd=_price(model_id, tokens),
    )


def _cascade(tokens: int, least_felt: float, shown: Sequence[int]) -> tuple[float, float]:
    """Success and cost as shares of the strongest model's: two cheaper models are believed where they agree and are
    confident enough together; else the strongest is asked."""
    first, second, strongest = (_asked(model_id, tokens) for model_id in TWO_CHEAPER_AND_THE_STRONGEST)
    solved = escalated = 0
    for number in range(QUESTIONS):
        agreed = first.cause[number] == second.cause[number]
        if agreed and first.felt[shown[number]] + second.felt[shown[number]] >= least_felt:
            solved += second.right[number]
        else:
            escalated += 1
            solved += strongest.right[number]
    spent = QUESTIONS * (first.nano_usd + second.nano_usd) + escalated * strongest.nano_usd
    return solved / sum(strongest.right), spent / (QUESTIONS * strongest.nano_usd)


def _nearly_equals_the_strongest(tokens: int, shown: Sequence[int]) -> bool:
    """95 % of its success at 60 % of its cost or less, at any threshold."""
    tried = (_cascade(tokens, least, shown) for least in THRESHOLDS)
    return any(success >= 0.95 and cost <= 0.60 for success, cost in tried)


def test_a_cascade_on_confidence_and_agreement_nearly_equals_the_strongest_model_at_sixty_percent_of_its_cost() -> None:
    """The longer the context, the weaker the cheap models. Where agreement alone no longer suffices, because the
    confidence shown is shuffled among questions, confidence that says something still does."""
    short, long = 600, 20_600
    assert _nearly_equals_the_strongest(short, SHUFFLED)
    assert not _nearly_equals_the_strongest(long, SHUFFLED)
    while long - short > 160:
        middle = (short + long) // 2
        if _nearly_equals_the_strongest(middle, SHUFFLED):
            short = middle
        else:
            long = middle
    assert _nearly_equals_the_strongest(long, SAME)
    assert not _nearly_equals_the_strongest(long, SHUFFLED)


@pytest.mark.parametrize("tokens", [3_000, 12_000, 40_000])
def test_more_context_past_the_needed_facts_hurts_weak_models_more(tokens: int) -> None:
    """NoLiMa: at 32K GPT-4o keeps 70 % of its accuracy, GPT-4o mini 16 %."""
    constants, behaviours = load_behaviours("measured")
    truth = case().hidden.subtasks[0]

    def kept(model_id: str, decoys: int = 0) -> float:
        short, long = (
            odds(constants, behaviours[model_id], truth, Effort.MEDIUM, 1.0, length, crowd)
            for length, crowd in ((600, 0), (tokens, decoys))
        )
        return long / short

    for decoys in (0, 2):
        by_tier = [
            fmean(kept(model_id, decoys) for model_id, card in CARDS.items() if card.tier is tier) for tier in Tier
        ]
        assert by_tier == sorted(by_tier)
    assert kept("gpt-4o-mini") < kept("gpt-4o")
    assert kept("llama-3.1-8b") < kept("llama-3.3-70b")
