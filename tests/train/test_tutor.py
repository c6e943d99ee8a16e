"""A tutor knows how to go on from wherever a student has got to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from TokenOptEnv import policies, questions, scenario_store
from TokenOptEnv.config import DEFAULT_WORLDS, EpisodeConfig, Profile
from TokenOptEnv.episode_runtime import StepOutcome, advance, start
from TokenOptEnv.models import ActionType, ArtifactKind, Effort, Tier, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.policies import desk
from TokenOptEnv.prompt import render_text
from TokenOptEnv.streams import Stream
from TokenOptEnv.text_actions import Numbering, parse
from TokenOptEnv.text_actions import write as short_form
from TokenOptEnv.world import World, build_world
from training.collect import Job, collect_case
from training.episode import LONGEST_ACTION_CHARACTERS, said
from training.grammar import TokenGrammar
from training.policy_model import Lora, PolicyModel
from training.standing import Standing, shown
from training.tutor import TUTOR, Tutor

_NARROW, _WIDE = "ci-easy-g000003", "incident-easy-g100022"
_SLOT = "incident-easy-g100021"
"""Its second question has a slot that the first one fills."""
_CASES = (_NARROW, _WIDE, _SLOT)

Act = Callable[[TokenOptEnvObservation], TokenOptEnvAction]


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
def test_alone_it_is_never_refused(case: str) -> None:
    for seed in range(DEFAULT_WORLDS):
        assert not any(map(is_refused, played(Tutor().act, case, seed)))


def test_it_solves_more_than_the_best_heuristic_and_pays_less_for_it() -> None:
    cases = scenario_store.ids("validation")[::3]
    solved, nano_usd = Counter[str](), Counter[str]()
    for name, act in (("tutor", Tutor().act), ("expert", policies.make("expert", 0).act)):
        for case in cases:
            score = played(act, case, 0)[-1].observation.score
            assert score is not None
            solved[name] += score.success
            nano_usd[name] += score.cost_nano_usd
    assert solved["tutor"] >= solved["expert"]
    assert nano_usd["tutor"] / solved["tutor"] < nano_usd["expert"] / solved["expert"]


@pytest.mark.parametrize("case", _CASES)
def test_wherever_it_takes_over_it_is_never_refused_and_submits(case: str) -> None:
    tutor = Tutor()
    for step in range(12):
        for seed in range(DEFAULT_WORLDS):
            told = taken_over(tutor, case, seed, step)
            assert not any(map(is_refused, told[1:]))
            assert told[-1].observation.terminated


@pytest.mark.parametrize("case", _CASES)
def test_the_same_observation_gets_the_same_advice(case: str) -> None:
    tutor = Tutor()
    seen = [now.observation for now in taken_over(tutor, case, 0, 5)[:-1]]
    first = [tutor.act(observation) for observation in seen]
    played(tutor.act, case, 1)
    assert [tutor.act(observation) for observation in reversed(seen)] == first[::-1]
    assert [Tutor().act(observation) for observation in seen] == first


@pytest.mark.parametrize("case", _CASES)
def test_it_names_only_what_a_prompt_shows_and_what_can_be_said(case: str) -> None:
    tutor = Tutor()
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


def test_what_bridges_a_marathons_resets_can_be_said(tiny: Path) -> None:
    """Notes of findings, and one number for all findings of a note; within the grammar."""
    world = world_of("bugfix-marathon-g100080", 0)
    model = PolicyModel(tiny, Lora(4, 8), None, torch.device("cpu"))
    grammar = TokenGrammar.of_actions(Profile.V2, model.tokenizer, model.eos_id, model.causal.config.vocab_size)
    now = start(world, "said")
    verbs: set[str] = set()
    while not now.observation.done:
        action = Tutor().act(now.observation)
        text = said(action, now.observation)
        assert text is not None and parse(text, now.observation) == action
        assert grammar.states(model.action_ids(text).tolist()) is not None, text
        verbs.add(text.split()[0])
        now = advance(now.state, action, world)
    assert verbs >= {"note", "recall", "submit"}


def test_suspects_are_not_searched_for() -> None:
    """They are all over a red build's logs."""
    told = played(Tutor().act, _NARROW, 0)
    asked = told[0].observation.task.subtasks[1].question
    finds = [Tutor().act(now.observation).query or "" for now in told[:-1]]
    assert "pipeline.yml" in asked and not any("pipeline.yml" in query for query in finds)
    assert any("Author" in query for query in finds)


def test_for_the_first_red_run_the_logs_of_earlier_runs_come_first() -> None:
    told = played(Tutor().act, "ci-medium-g100010", 0)
    find, ask = (Tutor().act(now.observation) for now in told[:2])
    assert "run was first" in told[0].observation.task.subtasks[0].question and find.top_k == 6
    earlier = [name.startswith("log-runs-") for name in ask.context_segment_ids]
    assert any(earlier) and earlier == sorted(earlier, reverse=True)


def test_what_is_squeezed_next_fills_all_the_room() -> None:
    told = played(Tutor().act, _WIDE, 0)
    actions = [Tutor().act(now.observation) for now in told[:-1]]
    kinds = [action.action_type for action in actions]
    loads = [
        place
        for place in range(len(kinds) - 1)
        if kinds[place : place + 2] == [ActionType.HYDRATE_SEGMENTS, ActionType.COMPRESS_CONTEXT]
    ]
    assert loads
    for place in loads:
        before, after = told[place].observation, told[place + 1].observation
        sizes = {each.segment_id: each.tokens for each in before.surfaced}
        held = {item.item_id for item in after.working_memory.items}
        left = [sizes[each] for each in shown(before) if each not in held]
        assert desk.room_tokens(after) < min(left) + 12


def test_talk_is_not_handed_over_where_there_is_something_else() -> None:
    told = played(Tutor().act, "incident-easy-g000024", 0)
    kinds = {
        f"{each.artifact_id}-s{number}": each.kind
        for each in told[0].observation.artifacts
        for number in range(1, each.segments + 1)
    }
    listed = {kinds[each] for now in told for each in shown(now.observation)}
    routes = told[-1].observation.routing.routes
    handed_over = {kinds[each] for route in routes for each in route.context_ids}
    assert {ArtifactKind.CHAT, ArtifactKind.TICKET} & listed
    assert handed_over and not {ArtifactKind.CHAT, ArtifactKind.TICKET} & handed_over


def test_the_last_step_is_for_the_answer() -> None:
    tutor = Tutor()
    for now in played(tutor.act, _WIDE, 0)[:-1]:
        left = now.observation.budgets.steps
        late = now.observation.model_copy(
            update={
                "budgets": now.observation.budgets.model_copy(update={"steps": left.model_copy(update={"left": 1})})
            }
        )
        assert tutor.act(late).action_type is ActionType.SUBMIT_ANSWER


def test_a_tutor_names_the_question_that_it_searches_for() -> None:
    for case, reference in ((_NARROW, r"\?\d-"), (_WIDE, r"\?\d")):
        texts = [said(Tutor().act(now.observation), now.observation) for now in played(Tutor().act, case, 0)[:-1]]
        searches = [text for text in texts if text is not None and text.startswith("find")]
        assert searches
        assert all(re.fullmatch(rf"find {reference} k\d", text) for text in searches)


def test_what_fits_of_a_wide_table_is_loaded_by_its_range() -> None:
    told = played(Tutor().act, _WIDE, 0)[:-1]
    loads = [
        (said(action, now.observation), action)
        for now in told
        if (action := Tutor().act(now.observation)).action_type is ActionType.HYDRATE_SEGMENTS
    ]
    assert len(loads) > 1
    first, *_ = texts = [text for text, _ in loads]
    assert first is not None and re.fullmatch(r"load \d+-\d+", first)
    assert set(texts) == {first}, "what is wanted stays the same; what of it is held does not"
    assert len({action.context_segment_ids for _, action in loads}) == len(loads)


def test_whom_it_asks_does_not_depend_on_what_no_prompt_shows() -> None:
    """Premiums for caching, speed and vocabulary, as long as it can be paid."""
    untold = {"cache_write_pico_usd": 1, "vocabulary_permille": 900, "first_token_ms": 1, "output_tokens_per_s": 1_000}
    for now in played(Tutor().act, _NARROW, 0)[:-1]:
        asked = Tutor().act(now.observation)
        if asked.action_type is not ActionType.ROUTE_SUBTASK:
            continue
        others = tuple(card.model_copy(update=untold) for card in now.observation.models)
        changed = now.observation.model_copy(update={"models": others})
        assert render_text(changed) == render_text(now.observation)
        assert Tutor().act(changed) == asked


@pytest.mark.parametrize(
    ("tier", "thinks_tokens", "effort"),
    [
        (Tier.MID, 400, Effort.MEDIUM),
        (Tier.MID, 40, Effort.HIGH),
        (Tier.FRONTIER, 400, Effort.LOW),
    ],
)
def test_a_tutor_asks_the_first_of_the_middle_tier_and_goes_by_whether_it_thinks(
    tier: Tier, thinks_tokens: int, effort: Effort
) -> None:
    """Whoever else is on the menu; where it has nobody of that tier, the frontier."""
    first_ask = played(Tutor().act, _NARROW, 0)[1].observation
    thought = {each: thinks_tokens * number for number, each in enumerate(Effort)}
    cards = tuple(
        card.model_copy(update={"reasoning_tokens": thought})
        for card in first_ask.models
        if tier is Tier.MID or card.tier is not Tier.MID
    )
    assert {Tier.SMALL, Tier.FRONTIER} <= {card.tier for card in cards}
    asked = Tutor().act(first_ask.model_copy(update={"models": cards}))
    chosen = next(card for card in cards if card.tier is tier)
    assert (asked.model_id, asked.effort) == (chosen.model_id, effort)


def test_slips_of_a_tutor_may_go_through_and_are_not_learned() -> None:
    job = Job(_NARROW, EpisodeConfig(), (TUTOR,), least_return=-1.0, slip_share=0.6)
    slipped = [trace for trace in collect_case(job).traces if trace.slips]
    assert slipped
    assert any(trace.actions[place].startswith("ask") for trace in slipped for place in trace.slips)
    assert all(
        trace.actions[-1].startswith("submit") and len(trace.actions) - 1 not in trace.slips for trace in slipped
    )


def test_an_outdated_result_does_not_fill_a_slot() -> None:
    """The latest that is held would: so it goes before the next question is asked."""
    case = "incident-medium-g000093"
    met = False
    for now in played(Tutor().act, case, 0):
        observation = now.observation
        doubtful = {each.values["host"] for each in Standing(observation).outdated if "host" in each.values}
        met = met or bool(doubtful)
        if Tutor().act(observation).subtask_id is not None and len(observation.findings) > 0:
            asked = next(each for each in observation.task.subtasks if each.slot is not None)
            assert not any(host in questions.wording(observation, asked) for host in doubtful)
    assert met
