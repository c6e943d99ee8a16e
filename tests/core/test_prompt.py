"""The prompt: what is shown is what is billed, piece by piece, and nothing in it tells the score."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.cases import (
    STRONGEST,
    WEAKEST,
    Play,
    Visibly,
    find_everything,
    marathon,
    patches,
    segment_with,
    toy,
    world_of,
)
from TokenOptEnv import render_text
from TokenOptEnv.catalog import load_catalog
from TokenOptEnv.config import Profile, Track
from TokenOptEnv.models import ActionType
from TokenOptEnv.prompt import head_text, item_text, tail_text
from TokenOptEnv.simulators import tokens
from TokenOptEnv.text_actions import Numbering, write

ORDERS = segment_with(toy(), "pool exhausted")


def long_play(visibly: Visibly | None = None) -> Play:
    """Every kind of item, a refusal, an edit in the middle."""
    play = Play(world_of(toy(), visibly=visibly))
    find_everything(play)
    play.query_cache("Why did a checkout request fail?")
    play.read("nowhere")
    play.compress("config-orders-s1", method="head_tail", target_ratio=0.5)
    play.checkpoint("a note", play.finding_ids[0])
    play.restore("checkpoint-1")
    play.purge(play.item_ids[0])
    return play


def pieces(play: Play, place: int) -> list[str]:
    seen = play.observations[place]
    return [
        head_text(seen.task, seen.artifacts, seen.models),
        *(item_text(item) for item in seen.working_memory.items),
        tail_text(seen.working_memory, seen.last_tool_result, seen.budgets, seen.checkpoints, seen.must_submit),
    ]


def test_the_prompt_is_the_head_the_items_and_the_tail() -> None:
    play = long_play()
    for place, seen in enumerate(play.observations):
        assert render_text(seen) == "".join(pieces(play, place))


@pytest.mark.parametrize("controller", ["gpt-5-mini", "claude-sonnet-4.5", "gemini-2.5-pro", "deepseek-v3.2"])
def test_what_is_shown_is_what_is_billed(controller: str) -> None:
    card = load_catalog("measured").card(controller)
    play = long_play(lambda visible: replace(visible, controller=card))
    for place, seen in enumerate(play.observations[1:]):
        (entry,) = [entry for entry in seen.ledger if entry.who == "controller"]
        shown = pieces(play, place)
        counts = []
        for piece in shown:
            head, newline, body = piece.partition("\n")
            # a whole segment is counted apart from the line over it: its count is stored with the scenario
            is_segment = any(body == segment.text for a in toy().public.artifacts for segment in a.segments)
            parts = [head + newline, body] if is_segment else [piece]
            counts.append(sum(-(-tokens.count(card.vocabulary, p) * card.vocabulary_permille // 1000) for p in parts))
        assert entry.fresh_tokens + entry.cached_tokens == sum(counts)
        action = play.trace.steps[place].action
        written = write(action, Numbering.of(play.observations[place]))
        assert entry.output_tokens == -(-tokens.count(card.vocabulary, written) * card.vocabulary_permille // 1000)


def test_counting_by_pieces_is_within_one_in_a_hundred_of_counting_the_whole() -> None:
    play = long_play()
    card = play.world.visible.controller
    for place, seen in enumerate(play.observations):
        by_piece = sum(tokens.count(card.vocabulary, piece) for piece in pieces(play, place))
        assert by_piece == pytest.approx(tokens.count(card.vocabulary, render_text(seen)), rel=0.01)


def test_neither_reward_nor_milestone_nor_guardrail_is_in_it() -> None:
    play = long_play()
    for seen in play.observations:
        text = render_text(seen).lower()
        assert not re.search(r"reward|milestone|guardrail|score|penalt|return", text)
        for listed in (*seen.milestones.listed_ids, *(event.guardrail_id for event in seen.guardrail_events)):
            assert listed not in text


def test_everything_that_can_be_named_has_its_number_in_it() -> None:
    play = long_play()
    text = render_text(play.observation)
    for number, subtask in enumerate(play.observation.task.subtasks, start=1):
        assert f"\n{number} {subtask.question}" in text
    for artifact in play.observation.artifacts:
        assert f"\n{artifact.alias} {artifact.kind} {artifact.title}" in text
    for number, card in enumerate(play.observation.models, start=1):
        assert f"\n{number} {card.name}" in text
    for item in play.observation.working_memory.items:
        assert f"\n#{item.alias} " in text


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (ActionType.READ_ARTIFACT, {"artifact_id": "log-gateway", "page": 2}),
        (ActionType.ROUTE_SUBTASK, {"subtask_id": "q-cause", "model_id": STRONGEST, "effort": "high"}),
        (
            ActionType.COMPRESS_CONTEXT,
            {"context_segment_ids": (ORDERS,), "method": "dedupe", "target_ratio": 0.3},
        ),
        (ActionType.SEARCH_ARTIFACTS, {"query": "pool exhausted connections in use", "top_k": 4}),
        (ActionType.ESCALATE_ROUTE, {"route_id": "route-1", "model_id": STRONGEST}),
        (ActionType.SUBMIT_ANSWER, {"finding_ids": ("finding-1", "finding-2", "finding-3")}),
    ],
)
def test_an_action_fits_two_dozen_tokens(kind: ActionType, fields: dict[str, object]) -> None:
    play = Play(world_of(toy()))
    find_everything(play)
    play.do(kind, **fields)
    (entry,) = [entry for entry in play.observation.ledger if entry.who == "controller"]
    assert entry.output_tokens <= 24


def test_the_head_stays_the_same_for_a_whole_phase() -> None:
    play = long_play()
    assert len({pieces(play, place)[0] for place in range(len(play.observations))}) == 1


def test_the_head_of_profile_v1_does_not_speak_of_actions_it_refuses() -> None:
    text = render_text(Play(world_of(toy(), profile=Profile.V1)).observation)
    assert "squeeze" in text
    for verb in ("find ", "load ", "drop ", "up ", "note ", "recall "):
        assert f"\n{verb}" not in text and f"| {verb}" not in text


def test_the_solver_is_told_the_fields_and_how_to_answer_in_its_own_words() -> None:
    solver = render_text(Play(world_of(toy(), track=Track.SOLVER)).observation)
    controller = render_text(Play(world_of(toy())).observation)
    assert "cause: What failed? (pool_exhaustion | disk_full | deadlock)" in solver
    assert "field=value" in solver
    assert "field=value" not in controller


def test_the_tail_tells_the_last_refusal_and_what_is_left() -> None:
    play = Play(world_of(toy()))
    play.read("nowhere")
    tail = pieces(play, -1)[-1]
    assert play.refusal is not None
    assert play.refusal.message in tail
    budgets = play.observation.budgets
    assert f"{budgets.steps.left} steps" in tail
    assert f"{budgets.tokens.left}t" in tail
    assert "memory 0/1500t" in tail


def test_what_was_freed_does_not_read_as_added() -> None:
    play = Play(world_of(toy()))
    play.read("config-orders")
    play.purge("config-orders-s1")
    assert "+-" not in render_text(play.observation)


def test_a_marathon_says_when_memory_will_be_lost_until_its_last_phase() -> None:
    play = Play(world_of(marathon()))
    assert re.search(r"Phase 1 of 3.* step 4\b", render_text(play.observation))
    for _ in range(9):
        play.do(ActionType.MALFORMED)
    assert re.search(r"Phase 3 of 3", render_text(play.observation))
    assert not re.search(r"Phase 3 of 3.* lost", render_text(play.observation))


def test_a_question_with_a_line_break_in_its_evidence_keeps_the_prompt_in_sections() -> None:
    """Only the engine's own lines begin with two signs."""
    play = Play(world_of(patches()))
    play.read("code-pool")
    play.route("q-patch", WEAKEST, "code-pool-s1")
    sections = [line for line in render_text(play.observation).splitlines() if line.startswith("## ")]
    assert [section.split()[1].rstrip(",") for section in sections] == ["The", "Q", "A", "M", "Memory", "Now"]
