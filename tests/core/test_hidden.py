"""Hidden by construction: nothing that is shown before the end depends on the truth, and nothing tells it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, get_type_hints

import pytest
from pydantic import BaseModel

from tests.cases import (
    RIGHT_PATCH,
    STRONGEST,
    WEAKEST,
    WRONG_PATCH,
    Play,
    ScriptedBackend,
    find_everything,
    marathon,
    patches,
    segment_with,
    simulated_world,
    toy,
    world_of,
)
from TokenOptEnv import LocalEnv, observation_builder, render_text
from TokenOptEnv.catalog import load_behaviours, load_catalog
from TokenOptEnv.config import RewardMode
from TokenOptEnv.episode_state import EpisodeState
from TokenOptEnv.errors import CamreError
from TokenOptEnv.models import (
    ActionType,
    RefusalReason,
    TokenOptEnvAction,
    TokenOptEnvObservation,
    TokenOptEnvState,
)
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.scenario import CacheValidity, HiddenScenario, Scenario, hidden
from TokenOptEnv.simulators.routing import threshold, world_draw
from TokenOptEnv.world import VisibleWorld, World

GATEWAY = segment_with(toy(), "req-7f3a failed")
ORDERS = segment_with(toy(), "pool exhausted")
NEUTRAL = {"q-request": {"request_id": "req-1234"}, "q-cause": {"cause": "deadlock"}, "q-setting": {"setting": "x"}}
"""Neither right nor any candidate's values."""


# --- the swap


def _other_answers(truth: HiddenScenario) -> HiddenScenario:
    """Another candidate of each question is the right one, and what it says is accepted."""
    subtasks = []
    for subtask in truth.subtasks:
        candidates = [
            candidate.model_copy(update={"right": place == 1}) for place, candidate in enumerate(subtask.candidates)
        ]
        subtasks.append(subtask.model_copy(update={"candidates": tuple(candidates)}))
    said = {name: value for each in subtasks for name, value in each.candidates[1].values.items()}
    answers = tuple(each.model_copy(update={"accepted": (said[each.name],)}) for each in truth.fields)
    return truth.model_copy(update={"subtasks": tuple(subtasks), "fields": answers})


def _other_places(truth: HiddenScenario) -> HiddenScenario:
    """Facts stand where decoys stood, and the other way round."""
    (decoy,) = truth.decoys
    facts = tuple(fact.model_copy(update={"places": decoy.places}) for fact in truth.facts)
    decoys = (decoy.model_copy(update={"places": tuple(place for fact in truth.facts for place in fact.places)}),)
    return truth.model_copy(update={"facts": facts, "decoys": decoys})


def _other_cache(truth: HiddenScenario) -> HiddenScenario:
    turned = {CacheValidity.VALID: CacheValidity.STALE}
    cache = {entry_id: turned.get(validity, CacheValidity.VALID) for entry_id, validity in truth.cache.items()}
    return truth.model_copy(update={"cache": cache})


def _everything(truth: HiddenScenario) -> HiddenScenario:
    return _other_cache(_other_places(_other_answers(truth)))


def _act(play: Play) -> None:
    """Every kind of action, with what the truth could show through: compression, escalation, cache, wrong citations."""
    find_everything(play)
    play.query_cache("Why did a checkout request fail last month?")
    play.hydrate(ORDERS)
    play.compress(ORDERS, method="head_tail", target_ratio=0.1)
    play.escalate("route-2", STRONGEST)
    play.checkpoint("so far", *play.finding_ids[:1])
    play.read("nowhere")


def _played(scenario: Scenario, mode: RewardMode) -> Play:
    cause = {"q-request": {"request_id": "req-7f3a"}, "q-cause": {"cause": "pool_exhaustion"}}
    backend = ScriptedBackend({**cause, "q-setting": {"setting": "pool.max_connections"}})
    play = Play(world_of(scenario, backend=backend, reward_mode=mode))
    _act(play)
    assert not play.observation.done
    play.submit(*play.finding_ids)
    return play


@pytest.mark.parametrize("mode", RewardMode)
@pytest.mark.parametrize("swap", [_other_answers, _other_places, _other_cache, _everything])
def test_swapping_the_truth_changes_nothing_until_the_end(
    swap: Callable[[HiddenScenario], HiddenScenario], mode: RewardMode
) -> None:
    real, other = toy(), replace(toy(), hidden=swap(toy().hidden))
    first, second = _played(real, mode), _played(other, mode)
    assert first.observation.done and second.observation.done
    for before, after in zip(first.observations[:-1], second.observations[:-1], strict=True):
        assert before.model_dump_json() == after.model_dump_json()
        assert render_text(before) == render_text(after)
    assert first.observation.score != second.observation.score, "the swap swapped nothing that is graded"


def test_swapping_the_truth_changes_no_refusal() -> None:
    other = replace(toy(), hidden=_everything(toy().hidden))
    for kind in ActionType:
        said = []
        for scenario in (toy(), other):
            play = Play(world_of(scenario))
            play.do(kind, artifact_id="x", query="", subtask_id="q-cause", model_id=WEAKEST, finding_ids=("finding-1",))
            said.append(play.observation.model_dump_json())
        assert said[0] == said[1]


def test_swapping_verdicts_changes_nothing_until_the_end() -> None:
    turned = {patch: not passed for patch, passed in patches().hidden.verdicts.items()}
    other = replace(patches(), hidden=patches().hidden.model_copy(update={"verdicts": turned}))
    seen = []
    for scenario in (patches(), other):
        play = Play(world_of(scenario, backend=ScriptedBackend({"q-patch": {"patch": WRONG_PATCH}})))
        play.read("code-pool")
        play.route("q-patch", WEAKEST, "code-pool-s1")
        play.submit(*play.finding_ids)
        seen.append(play)
    first, second = seen
    assert [o.model_dump_json() for o in first.observations[:-1]] == [
        o.model_dump_json() for o in second.observations[:-1]
    ]
    assert first.observation.score != second.observation.score


# --- the types


def test_the_observation_builder_cannot_be_handed_anything_hidden() -> None:
    taken = get_type_hints(observation_builder.build, localns={"VisibleWorld": VisibleWorld})
    assert not {HiddenScenario, Scenario, World} & set(taken.values())
    for whole in (VisibleWorld, EpisodeState):
        for each in fields(whole):
            assert "Hidden" not in str(each.type) and "Backend" not in str(each.type)


def test_no_schema_speaks_of_hidden_things() -> None:
    modelled = {name: each for name, each in vars(hidden).items() if isinstance(each, type) and each is not Frozen}
    hidden_types = {name for name, each in modelled.items() if issubclass(each, BaseModel)}
    assert len(hidden_types) >= 7
    own_fields = {
        name
        for hidden_type in hidden_types
        for name in getattr(hidden, hidden_type).model_fields
        if name.endswith(("_ids", "why")) or name in ("accepted", "path", "needs", "verdicts", "candidates", "lexical")
    }
    assert {"decoy_ids", "accepted", "why"} <= own_fields
    for wire in (TokenOptEnvAction, TokenOptEnvObservation, TokenOptEnvState):
        schema = wire.model_json_schema()
        assert not hidden_types & set(schema.get("$defs", {}))
        assert not own_fields & set(_names(schema))


def _names(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for value in schema.values():
            yield from _names(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _names(value)


# --- the words


def hidden_words(scenario: Scenario) -> set[str]:
    """Everything of the hidden half that stands nowhere in the public one, as JSON would spell it."""
    truth = scenario.hidden
    words = {fact.fact_id for fact in truth.facts} | {decoy.decoy_id for decoy in truth.decoys}
    words |= {fact.why for fact in truth.facts} | {decoy.why for decoy in truth.decoys}
    for subtask in truth.subtasks:
        for candidate in subtask.candidates:
            words |= {candidate.candidate_id, candidate.text, *candidate.values.values()}
    words |= {accepted for each in truth.fields for accepted in each.accepted}
    words |= set(truth.verdicts)
    public = scenario.public.model_dump_json()
    return {spelt for word in words if (spelt := json.dumps(word, ensure_ascii=False)[1:-1]) not in public}


def everything_shown(play: Play) -> str:
    shown = [observation.model_dump_json() for observation in play.observations]
    return "\n".join([*shown, *(render_text(observation) for observation in play.observations)])


@pytest.mark.parametrize(
    ("scenario", "backend", "some"),
    [
        (toy, ScriptedBackend(NEUTRAL), {"zf-pool", "zd-disk", "q-cause-c0", "zwhy the pool was empty"}),
        (patches, ScriptedBackend({"q-patch": {"patch": "--- mine"}}), {"zf-bound", "q-patch-c1"}),
        (marathon, ScriptedBackend({}), {"zf-disk", "q-volume-c0"}),
    ],
    ids=["toy", "patches", "marathon"],
)
def test_no_hidden_word_is_ever_shown(
    scenario: Callable[[], Scenario], backend: ScriptedBackend, some: set[str]
) -> None:
    words = hidden_words(scenario())
    assert some <= words
    play = Play(world_of(scenario(), backend=backend))
    for artifact in play.observation.artifacts:
        play.read(artifact.artifact_id)
    for subtask in play.observation.task.subtasks:
        play.search(subtask.question, 8)
        play.query_cache(subtask.question)
        play.route(subtask.subtask_id, WEAKEST, *(handle.segment_id for handle in play.observation.surfaced[:4]))
    play.submit(*play.finding_ids, answer={play.observation.task.answer_fields[0].name: "who knows"})
    shown = everything_shown(play)
    assert sorted(word for word in words if word in shown) == []


def test_of_the_candidates_only_what_a_model_said_is_shown() -> None:
    play = Play(simulated_world(toy()))
    find_everything(play)
    play.escalate("route-1")
    texts = {candidate.text for subtask in toy().hidden.subtasks for candidate in subtask.candidates}
    said = {finding.text for seen in play.observations for finding in seen.findings}
    assert said and said <= texts
    shown = everything_shown(play)
    assert {text for text in texts if text in shown} == said
    assert not any(word in shown for word in ("zwhy", "zf-", "zd-", "q-request-c", "q-cause-c"))


def test_no_odds_and_no_draws_are_shown() -> None:
    constants, _ = load_behaviours("measured")
    menu = toy().public.menus["measured"]
    redraw = world_draw(toy(), 0, "measured", menu)
    draws = {
        threshold(toy().scenario_id, 0, redraw, subtask.subtask_id, model_id, rho=constants.rho)
        for subtask in toy().public.subtasks
        for model_id in menu
    }
    play = Play(simulated_world(toy()))
    find_everything(play)
    play.submit(*play.finding_ids)
    shown = everything_shown(play)
    assert len(draws) == 12
    assert not any(f"{draw:.4f}"[1:] in shown for draw in draws)
    assert not any(name in shown for name in ("redraw", "world_index", "threshold", "ceiling"))


def test_the_truth_is_shown_at_the_end_only_where_reveal_was_asked_for(store: tuple[str, ...]) -> None:
    for reveal in (False, True):
        env = LocalEnv(ScriptedBackend({"q-patch": {"patch": WRONG_PATCH}}), reveal=reveal)
        first = env.reset("bugfix-easy-toy")
        assert first.revealed is None
        env.step(TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id="code-pool"))
        last = env.step(TokenOptEnvAction(action_type=ActionType.SUBMIT_ANSWER, answer={"patch": "mine"}))
        assert last.done
        told = json.dumps(RIGHT_PATCH)[1:-1] in last.model_dump_json()
        assert told is reveal
        assert (last.revealed is not None) is reveal


def test_neither_the_state_nor_an_error_tells_anything_hidden(store: tuple[str, ...]) -> None:
    words = hidden_words(toy())
    env = LocalEnv()
    env.reset("incident-easy-toy")
    said = [env.state.model_dump_json(), repr(env), str(env)]
    wrongs: list[dict[str, Any]] = [
        {"scenario_id": "incident-easy-toi"},
        {"seed": -1},
        {"profile": "v3"},
        {"split": "cor"},
        {"index": 99},
    ]
    for wrong in wrongs:
        with pytest.raises(CamreError) as caught:
            env.reset(**wrong)
        said.append(str(caught.value))
    assert not [word for word in words if any(word in each for each in said)]


def test_refusals_do_not_tell_whether_an_unshown_id_exists() -> None:
    """A segment that exists and one that does not are refused alike until they are surfaced."""
    for kind, name in (
        (ActionType.HYDRATE_SEGMENTS, "context_segment_ids"),
        (ActionType.ROUTE_SUBTASK, "context_segment_ids"),
        (ActionType.SUBMIT_ANSWER, "evidence_segment_ids"),
    ):
        said = []
        for segment_id in (GATEWAY, "log-gateway-s99"):
            play = Play(world_of(toy()))
            play.do(kind, subtask_id="q-setting", model_id=WEAKEST, answer={"cause": "x"}, **{name: (segment_id,)})
            assert play.refusal is not None
            assert play.refusal.reason is RefusalReason.NOT_SURFACED
            said.append(play.refusal.message.replace(segment_id, "?"))
        assert said[0] == said[1]


# --- anonymous models


def test_an_anonymous_menu_tells_no_name() -> None:
    menu = ("llama-3.1-8b", "gemma-4-31b", "claude-haiku-4.5", "gpt-5")
    scenario = replace(toy(), public=toy().public.model_copy(update={"menus": {"measured": menu}}))
    play = Play(simulated_world(scenario, anonymous_models=True))
    play.read("config-orders")
    play.route("q-setting", "model-1", "config-orders-s1")
    play.escalate("route-1")
    observation = play.observation
    told = [*observation.models, *observation.routing.routes, *observation.findings]
    shown = ("".join(each.model_dump_json() for each in told) + render_text(observation)).lower()
    names = ("llama", "gemma", "claude", "gpt", "anthropic", "openai", "google", "meta")
    assert [name for name in names if name in shown] == []


def test_an_anonymous_menu_bills_as_the_named_one() -> None:
    bills = []
    for anonymous in (False, True):
        play = Play(simulated_world(toy(), anonymous_models=anonymous))
        play.read("config-orders")
        for number, card in enumerate(play.observation.models, start=1):
            assert card.name != f"Model {number}" or anonymous
            play.route("q-setting", card.model_id, "config-orders-s1")
        bills.append([route.nano_usd for route in play.observation.routing.routes])
    assert bills[0] == bills[1]
    assert set(load_catalog("measured").cards) >= set(toy().public.menus["measured"])
