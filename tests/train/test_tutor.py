"""A tutor knows how to go on from wherever a student has got to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest
import torch

from TokenOptEnv import policies, scenario_store
from TokenOptEnv.config import DEFAULT_WORLDS, ROUTE_MAX_HANDLES, EpisodeConfig, Profile
from TokenOptEnv.episode_runtime import StepOutcome, advance, start
from TokenOptEnv.models import ActionType, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.streams import Stream
from TokenOptEnv.text_actions import Numbering, parse
from TokenOptEnv.text_actions import write as short_form
from TokenOptEnv.world import World, build_world
from training import first_try
from training.collect import Job, collect_case, first_tries
from training.episode import LONGEST_ACTION_CHARACTERS, said
from training.first_try import Asked
from training.grammar import TokenGrammar
from training.policy_model import Lora, PolicyModel
from training.standing import Evidence, content_words, shown
from training.tutor import Habits, Tutor, habits_for

_HABITS = Habits(top_k=5)
_NARROW, _WIDE = "ci-easy-g000003", "incident-easy-g100022"
_SLOT = "incident-easy-g100021"
"""Its second question has a slot that the first one fills."""
_CASES = (_NARROW, _WIDE, _SLOT)

Act = Callable[[TokenOptEnvObservation], TokenOptEnvAction]


@pytest.fixture(scope="module")
def notes() -> dict[str, Evidence]:
    tries = {name: first_tries(Job(name, EpisodeConfig(), (), least_return=0.0)) for name in _CASES}
    return {name: first_try.evidence(each) for name, each in tries.items()}


def world_of(case: str, seed: int) -> World:
    return build_world(scenario_store.load(case), seed, EpisodeConfig(), reference=lambda: None)


def is_refused(now: StepOutcome) -> bool:
    return now.last is not None and now.last.refusal is not None


def played(act: Act, case: str, seed: int) -> list[StepOutcome]:
    world = world_of(case, seed)
    told = [start(world, case)]
    while not told[-1].observation.done:
        told.append(advance(told[-1].state, act(told[-1].observation), world))
    return told


def mishap(observation: TokenOptEnvObservation, draw: Stream) -> str:
    """What a clumsy student says: wrong segments, no findings, numbers that were not shown, a question too early."""
    numbering = Numbering.of(observation)
    things, beyond = draw.shuffled(sorted(numbering.things.values())), max(numbering.things.values(), default=0) + 1
    some = " ".join(map(str, things[: draw.integer(1, 4)])) or str(beyond)
    question = draw.integer(1, len(observation.task.subtasks))
    model = draw.integer(1, len(observation.models))
    said = (
        f"ask {question} {model} {some}",
        f"ask {question} {model} {some} high",
        f"ask {question} {model} {beyond}",
        f"submit {beyond}",
        f"load {some}",
        f"load {beyond} {beyond + 1}",
        f"drop {some}",
        f"squeeze {some} extract 0.3",
        f"find {observation.task.title}",
        f"read {draw.integer(1, len(observation.artifacts))}",
        f"cache {observation.task.title}",
    )
    return draw.choice(said)


def taken_over(tutor: Tutor, case: str, seed: int, step: int) -> list[StepOutcome]:
    """What the tutor does after so many steps, of which a clumsy student has spoilt two in five."""
    world, draw = world_of(case, seed), Stream("clumsy", case, seed, step)
    now = start(world, case)
    while now.observation.step < step and not now.observation.done:
        advice = tutor.act(now.observation)
        is_spoilt = draw.chance(0.4) or advice.action_type is ActionType.SUBMIT_ANSWER
        action = parse(mishap(now.observation, draw), now.observation) if is_spoilt else advice
        now = advance(now.state, action, world)
    told = [now]
    while not told[-1].observation.done:
        told.append(advance(told[-1].state, tutor.act(told[-1].observation), world))
    return told


@pytest.mark.parametrize("case", _CASES)
def test_alone_it_is_never_refused_and_does_no_worse_than_the_best_heuristic(
    case: str, notes: dict[str, Evidence]
) -> None:
    tutor = Tutor(_HABITS, notes[case])
    returns: dict[str, list[float]] = {"tutor": [], "expert": []}
    for seed in range(DEFAULT_WORLDS):
        alone = played(tutor.act, case, seed)
        assert not any(map(is_refused, alone))
        for name, told in (("tutor", alone), ("expert", played(policies.make("expert", seed).act, case, seed))):
            score = told[-1].observation.score
            assert score is not None
            returns[name].append(score.total_return)
    assert fmean(returns["tutor"]) >= fmean(returns["expert"]) - 0.01


@pytest.mark.parametrize("case", _CASES)
def test_wherever_it_takes_over_it_is_never_refused_and_submits(case: str, notes: dict[str, Evidence]) -> None:
    tutor = Tutor(_HABITS, notes[case])
    for step in range(12):
        for seed in range(DEFAULT_WORLDS):
            told = taken_over(tutor, case, seed, step)
            assert not any(map(is_refused, told[1:]))
            assert told[-1].observation.terminated


@pytest.mark.parametrize("case", _CASES)
def test_the_same_observation_gets_the_same_advice(case: str, notes: dict[str, Evidence]) -> None:
    tutor = Tutor(_HABITS, notes[case])
    seen = [now.observation for now in taken_over(tutor, case, 0, 5)[:-1]]
    first = [tutor.act(observation) for observation in seen]
    played(tutor.act, case, 1)
    assert [tutor.act(observation) for observation in reversed(seen)] == first[::-1]
    assert [Tutor(_HABITS, notes[case]).act(observation) for observation in seen] == first


@pytest.mark.parametrize("case", _CASES)
def test_it_names_only_what_a_prompt_shows_and_what_can_be_said(case: str, notes: dict[str, Evidence]) -> None:
    tutor = Tutor(_HABITS, notes[case])
    for step in range(0, 12, 2):
        for now in taken_over(tutor, case, 2, step)[:-1]:
            observation = now.observation
            action = tutor.act(observation)
            held = {item.item_id for item in observation.working_memory.items}
            cited = {cite for finding in observation.findings for cite in finding.cites}
            assert {*held, *cited, *shown(observation)}.issuperset(action.context_segment_ids)
            text = short_form(action, Numbering.of(observation))
            is_without_findings = action.action_type is ActionType.SUBMIT_ANSWER and not action.finding_ids
            assert is_without_findings or parse(text, observation) == action
            assert len(text) <= LONGEST_ACTION_CHARACTERS


def at_first_ask(tutor: Tutor, world: World) -> StepOutcome:
    now = start(world, "asking")
    while tutor.act(now.observation).action_type is not ActionType.ROUTE_SUBTASK:
        now = advance(now.state, tutor.act(now.observation), world)
    return now


def test_what_bridges_a_marathons_resets_can_be_said(tiny: Path) -> None:
    """Notes of findings, and one number for all findings of a note; within the grammar."""
    world = world_of("bugfix-marathon-g100080", 0)
    model = PolicyModel(tiny, Lora(4, 8), None, torch.device("cpu"))
    grammar = TokenGrammar.of_actions(Profile.V2, model.tokenizer, model.eos_id, model.causal.config.vocab_size)
    now = start(world, "said")
    verbs: set[str] = set()
    while not now.observation.done:
        action = Tutor(_HABITS, {}).act(now.observation)
        text = said(action, now.observation)
        assert text is not None and parse(text, now.observation) == action
        assert grammar.states(model.action_ids(text).tolist()) is not None, text
        verbs.add(text.split()[0])
        now = advance(now.state, action, world)
    assert verbs >= {"note", "recall", "submit"}


@pytest.mark.parametrize("seed", range(DEFAULT_WORLDS))
def test_after_wrong_segments_it_hands_over_the_evidence(seed: int, notes: dict[str, Evidence]) -> None:
    """To whoever was asked: a stronger model than one that has answered would be refused."""
    known = notes[_NARROW]
    tutor, world = Tutor(_HABITS, known), world_of(_NARROW, seed)
    before = at_first_ask(tutor, world)
    advice = tutor.act(before.observation)
    assert advice.subtask_id is not None
    evidence = known[advice.subtask_id]
    wrong = tuple(each for each in shown(before.observation) if each not in evidence)[:2]
    for card in before.observation.models:
        spoilt = advice.model_copy(update={"context_segment_ids": wrong, "model_id": card.model_id})
        now = advance(before.state, spoilt, world)
        if now.observation.routing.routes[-1].confidence >= 0.75:
            continue
        again = tutor.act(now.observation)
        assert again.subtask_id == advice.subtask_id
        assert set(again.context_segment_ids).issuperset(evidence)
        assert not is_refused(advance(now.state, again, world))


def test_a_sparing_tutor_hands_over_the_evidence_alone(notes: dict[str, Evidence]) -> None:
    known, world = notes[_NARROW], world_of(_NARROW, 0)
    handed = []
    for is_sparing in (True, False):
        tutor = Tutor(Habits(5, is_sparing), known)
        advice = tutor.act(at_first_ask(tutor, world).observation)
        assert advice.subtask_id is not None
        assert set(advice.context_segment_ids).issuperset(known[advice.subtask_id])
        handed.append(len(advice.context_segment_ids))
    assert handed == [len(known[advice.subtask_id]), ROUTE_MAX_HANDLES[Profile.V2]]


def test_some_cases_are_taught_by_sparing_tutors() -> None:
    sparing = [habits_for(f"case-{number}")[0].is_sparing for number in range(400)]
    assert 80 < sum(sparing) < 160


def test_the_last_step_is_for_the_answer(notes: dict[str, Evidence]) -> None:
    tutor = Tutor(_HABITS, notes[_WIDE])
    for now in played(tutor.act, _WIDE, 0)[:-1]:
        left = now.observation.budgets.steps
        late = now.observation.model_copy(
            update={
                "budgets": now.observation.budgets.model_copy(update={"steps": left.model_copy(update={"left": 1})})
            }
        )
        assert tutor.act(late).action_type is ActionType.SUBMIT_ANSWER


def asked(right: bool, *cites: str) -> Asked:
    return Asked("q1", cites, right)


def test_evidence_is_what_right_answers_cited_most_often() -> None:
    tries = [asked(True, "a-s2", "a-s1"), asked(True, "a-s1", "a-s2"), asked(True, "a-s3"), asked(False, "a-s3")]
    assert first_try.evidence(tries) == {"q1": ("a-s1", "a-s2")}


def test_wrong_answers_tell_nothing() -> None:
    assert first_try.evidence([asked(False, "a-s1")]) == {}


def test_first_tries_differ_from_one_another_and_are_the_same_again() -> None:
    job = Job(_NARROW, EpisodeConfig(), (), least_return=0.0)
    tries = first_tries(job)
    assert {each.right for each in tries} == {True, False}
    assert first_tries(job) == tries


def test_the_words_of_a_question_are_copied_in_its_order() -> None:
    question = "Which commit of orders.pool broke it? Traces of it: timeout, pool, lease, commit."
    assert content_words(question) == ["commit", "orders.pool", "broke", "timeout", "pool", "lease"]


def test_slips_of_a_tutor_may_go_through_and_are_not_learned() -> None:
    job = Job(_NARROW, EpisodeConfig(), (_HABITS,), least_return=-1.0, slip_share=0.6)
    slipped = [trace for trace in collect_case(job).traces if trace.slips]
    assert slipped
    assert any(trace.actions[place].startswith("ask") for trace in slipped for place in trace.slips)
    assert all(
        trace.actions[-1].startswith("submit") and len(trace.actions) - 1 not in trace.slips for trace in slipped
    )
