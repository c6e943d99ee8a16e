"""The Studio without its page: what a visitor is handed, what is offered, and what stays hidden."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import httpx
import pytest
from fastapi import FastAPI

from tests.server.live import KAFKA, plan
from TokenOptEnv import LocalEnv, TokenOptEnvAction, policies, scenario_store
from TokenOptEnv.catalog import CATALOGS
from TokenOptEnv.config import EpisodeConfig, Profile, Track
from TokenOptEnv.errors import BadInput, CamreError, EpisodeNotRunning, UnknownName
from TokenOptEnv.models import V1_ACTIONS, V2_ACTIONS, ActionType
from TokenOptEnv.plans import reference_plan
from TokenOptEnv.server import http_faults
from TokenOptEnv.server.settings import Settings
from TokenOptEnv.server.studio import routes
from TokenOptEnv.server.studio.forms import ActionForm, Shape
from TokenOptEnv.server.studio.lobby import lobby
from TokenOptEnv.server.studio.seats import Seats
from TokenOptEnv.server.studio.sitting import Frame, Sitting
from TokenOptEnv.server.studio.table import Table

EASY = "incident-easy-orders-cell2"
CORE = scenario_store.ids()
TEST_CASE = next(
    name for name in (scenario_store.at("test", place) for place in range(40)) if name.startswith("incident-medium")
)


def played(table: Table, sitting: Sitting, actions: tuple[TokenOptEnvAction, ...]) -> list[Frame]:
    frames = list(table.frames(sitting))
    for action in actions:
        frames.append(table.step(sitting, action))
        sitting = further(sitting, action)
    return frames


def watched(table: Table, sitting: Sitting, most: int = 99) -> list[Frame]:
    frames = list(table.frames(sitting))
    while not frames[-1].observation.done and len(frames) <= most:
        frames.append(table.next(sitting))
        action = frames[-1].action
        assert action is not None
        sitting = further(sitting, action)
    return frames


def further(sitting: Sitting, action: TokenOptEnvAction) -> Sitting:
    return sitting.model_copy(update={"actions": (*sitting.actions, action)})


def offered(form: ActionForm, name: str) -> set[str]:
    return {option.value for field in form.fields if field.name == name for option in field.options}


@pytest.mark.parametrize("scenario_id", CORE)
def test_every_action_of_the_reference_plan_can_be_chosen_in_the_forms(scenario_id: str) -> None:
    frames = played(Table(reveal=False), Sitting(scenario_id=scenario_id), plan(scenario_id, 0))
    for before, after in pairwise(frames):
        action = after.action
        assert action is not None
        form = next(each for each in before.forms if each.action_type is action.action_type)
        for name, value in action.model_dump(exclude_defaults=True, exclude={"action_type"}).items():
            field = next(each for each in form.fields if each.name == name)
            if field.shape in (Shape.ONE, Shape.MANY):
                chosen = {value} if isinstance(value, str) else set(value)
                assert chosen <= offered(form, name), name
    assert frames[-1].observation.score is not None and frames[-1].observation.score.success


def test_exactly_the_legal_actions_are_offered_at_every_step() -> None:
    for policy in ("random", "expert"):
        for frame in watched(Table(reveal=False), Sitting(scenario_id=KAFKA, policy=policy)):
            assert frame.forms == ()  # who watches is offered nothing
    frames = played(Table(reveal=False), Sitting(scenario_id=KAFKA), plan(KAFKA, 0))
    for frame in frames:
        legal = frame.observation.legal_actions
        assert {form.action_type for form in frame.forms} == {each.action_type for each in legal.actions}
        known = {value for values in legal.choices.values() for value in values}
        for form in frame.forms:
            for field in form.fields:
                assert {option.value for option in field.options} <= known
                assert field.options or not field.required or field.shape is Shape.WORDS


def test_a_page_is_asked_only_of_an_artifact_that_has_several() -> None:
    (first,) = Table(reveal=False).frames(Sitting(scenario_id=EASY))
    read = next(form for form in first.forms if form.action_type is ActionType.READ_ARTIFACT)
    page = next(field for field in read.fields if field.name == "page")
    assert page.most_with["log-edge-c2"] == 2
    assert "ticket-4410" not in page.most_with


def test_only_stronger_models_are_offered_for_a_reply_that_is_not_good_enough() -> None:
    actions = plan(KAFKA, 0)
    first = next(n for n, action in enumerate(actions) if action.action_type is ActionType.ROUTE_SUBTASK)
    frames = played(Table(reveal=False), Sitting(scenario_id=KAFKA), actions[: first + 1])
    up = next(form for form in frames[-1].forms if form.action_type is ActionType.ESCALATE_ROUTE)
    model = next(field for field in up.fields if field.name == "model_id")
    (route,) = frames[-1].observation.routing.routes
    assert {option.only_with for option in model.options} == {route.route_id}
    assert route.model_id not in {option.value for option in model.options}


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("track", list(Track))
@pytest.mark.parametrize("catalog", CATALOGS)
def test_every_set_of_rules_has_its_forms(profile: Profile, track: Track, catalog: str) -> None:
    sitting = Sitting(scenario_id=EASY, profile=profile, track=track, catalog=catalog)
    read = TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id="ticket-4410")
    last = played(Table(reveal=False), sitting, (read,))[-1]
    answer = next(form for form in last.forms if form.action_type is ActionType.SUBMIT_ANSWER)
    assert {form.action_type for form in last.forms} <= set(V1_ACTIONS if profile is Profile.V1 else V2_ACTIONS)
    own = next(field.own_words for field in answer.fields if field.name == "answer")
    assert [word.name for word in own] == [field.name for field in last.observation.task.answer_fields]


def test_who_holds_a_finding_answers_in_own_words_only_on_the_solver_track() -> None:
    for track, wanted in ((Track.CONTROLLER, False), (Track.SOLVER, True)):
        env_plan = reference_plan(scenario_store.load(EASY), 0, EpisodeConfig(track=track)).actions
        frames = played(Table(reveal=False), Sitting(scenario_id=EASY, track=track), env_plan[:-1])
        assert frames[-1].observation.findings
        answer = next(form for form in frames[-1].forms if form.action_type is ActionType.SUBMIT_ANSWER)
        assert any(field.name == "answer" for field in answer.fields) is wanted


def test_what_is_played_in_the_studio_is_what_any_agent_would_see() -> None:
    env = LocalEnv()
    expected = [env.reset(scenario_id=KAFKA, seed=1), *(env.step(action) for action in plan(KAFKA, 1))]
    frames = played(Table(reveal=False), Sitting(scenario_id=KAFKA, seed=1), plan(KAFKA, 1))
    assert [frame.observation for frame in frames] == expected


def test_a_dropped_seat_is_taken_up_again_as_if_nothing_had_happened() -> None:
    sitting, actions = Sitting(scenario_id=KAFKA), plan(KAFKA, 0)
    warm = played(Table(reveal=False), sitting, actions)
    cold = played(Table(reveal=False, seats=Seats(most=0)), sitting, actions)
    assert warm == cold
    assert list(Table(reveal=False).frames(sitting.model_copy(update={"actions": actions}))) == warm


@pytest.mark.parametrize("policy", [name for name in policies.names() if not policies.info(name).knows_truth])
def test_a_policy_goes_on_alike_from_a_seat_that_was_dropped(policy: str) -> None:
    sitting = Sitting(scenario_id=EASY, policy=policy)
    warm = watched(Table(reveal=False), sitting, most=5)
    assert warm == watched(Table(reveal=False, seats=Seats(most=0)), sitting, most=5)


def test_two_visitors_at_the_same_point_do_not_disturb_each_other() -> None:
    table, sitting, actions = Table(reveal=False), Sitting(scenario_id=KAFKA), plan(KAFKA, 0)
    table.frames(sitting)
    one = table.step(sitting, actions[0])
    other = table.step(sitting, TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id="ticket-9602"))
    assert one.observation.step == other.observation.step == 1
    assert table.step(further(sitting, actions[0]), actions[1]).observation.step == 2


def test_visitors_who_play_at_once_see_what_each_would_see_alone() -> None:
    table = Table(reveal=False, seats=Seats(most=4))
    sittings = [Sitting(scenario_id=name, seed=seed, policy="rag") for name in (EASY, KAFKA) for seed in range(4)]
    with ThreadPoolExecutor(8) as visitors:
        together = list(visitors.map(lambda sitting: watched(table, sitting), sittings))
    assert together == [watched(Table(reveal=False), sitting) for sitting in sittings]


def test_seats_are_bounded_and_idle_ones_are_dropped() -> None:
    now = [0.0]
    seats = Seats(most=3, idle_s=60, clock=lambda: now[0])
    table = Table(reveal=False, seats=seats)
    for seed in range(5):
        table.frames(Sitting(scenario_id=EASY, seed=seed))
    assert len(seats) == 3
    assert seats.take(Sitting(scenario_id=EASY, seed=0)) is None
    assert seats.take(Sitting(scenario_id=EASY, seed=4)) is not None
    now[0] = 61.0
    assert seats.take(Sitting(scenario_id=EASY, seed=3)) is None
    assert len(seats) == 0


@pytest.mark.parametrize("reveal", [False, True])
def test_truth_and_plan_are_shown_at_the_end_alone_and_only_where_they_are_revealed(reveal: bool) -> None:
    frames = played(Table(reveal=reveal), Sitting(scenario_id=KAFKA), plan(KAFKA, 0))
    assert all(frame.observation.revealed is None for frame in frames[:-1])
    assert all(frame.observation.score is None for frame in frames[:-1])
    assert (frames[-1].observation.revealed is not None) is reveal


def test_the_test_split_is_never_revealed_and_nobody_who_knows_its_truth_plays() -> None:
    table = Table(reveal=True)
    sitting = Sitting(scenario_id=TEST_CASE)
    submit = TokenOptEnvAction(action_type=ActionType.SUBMIT_ANSWER, answer={"service": "none"})
    last = played(table, sitting, (submit,))[-1].observation
    assert last.done and last.score is not None and last.revealed is None
    with pytest.raises(BadInput, match="knows the truth"):
        table.frames(Sitting(scenario_id=TEST_CASE, policy="reference"))


def test_who_knows_the_truth_is_watched_only_where_it_is_revealed() -> None:
    with pytest.raises(BadInput, match="--reveal"):
        Table(reveal=False).frames(Sitting(scenario_id=EASY, policy="reference"))
    frames = watched(Table(reveal=True), Sitting(scenario_id=EASY, policy="reference"))
    assert frames[-1].observation.score is not None and frames[-1].observation.score.sce == 1.0
    assert "reference" not in {row.name for row in lobby(reveal=False).policies}
    assert "reference" in {row.name for row in lobby(reveal=True).policies}


@pytest.mark.parametrize("policy", ["os:system", "llm:some-model", "nobody"])
def test_a_visitor_cannot_bring_code_or_a_network_along(policy: str) -> None:
    with pytest.raises(UnknownName, match="no policy"):
        Table(reveal=True).frames(Sitting(scenario_id=EASY, policy=policy))


def test_a_visitor_does_not_act_for_a_policy_nor_a_policy_for_a_visitor() -> None:
    table = Table(reveal=False)
    with pytest.raises(BadInput, match="plays this episode"):
        table.step(Sitting(scenario_id=EASY, policy="rag"), plan(EASY, 0)[0])
    with pytest.raises(BadInput, match="nobody but you"):
        table.next(Sitting(scenario_id=EASY))


def test_after_the_end_nothing_can_be_played() -> None:
    table, actions = Table(reveal=False), plan(EASY, 0)
    over = Sitting(scenario_id=EASY, actions=actions)
    with pytest.raises(EpisodeNotRunning, match="over"):
        table.step(over, actions[-1])


def test_the_lobby_tells_of_every_split_and_fingerprints_no_truth() -> None:
    told = lobby(reveal=False)
    assert [page.split for page in told.splits] == [*scenario_store.SPLITS, scenario_store.IMPORTED]
    assert [row.scenario_id for row in told.splits[0].rows] == list(CORE)
    for page in told.splits:
        assert page.rows or page.by_index or page.absent
    assert "hash" not in told.model_dump_json()


def test_a_worker_is_told_whether_to_reveal() -> None:
    settings = Settings(web=True, reveal=True)
    assert Settings.from_environment(settings.to_environment()) == settings
    assert not Settings.from_environment({}).reveal
    with pytest.raises(BadInput, match="CAMRE_REVEAL"):
        Settings.from_environment({"CAMRE_REVEAL": "perhaps"})


@pytest.fixture(scope="module")
def app() -> FastAPI:
    made = FastAPI()
    made.include_router(routes.router(Table(reveal=False)))
    http_faults.install(made, 200_000)
    return made


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def visitor(app: FastAPI) -> Iterator[httpx.AsyncClient]:
    yield httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://studio")


@pytest.mark.anyio
async def test_the_page_and_its_parts_come_from_here_alone(visitor: httpx.AsyncClient) -> None:
    page = await visitor.get("/studio/")
    assert page.status_code == 200 and "default-src 'none'" in page.headers["content-security-policy"]
    assert "http" not in page.text.replace("http-equiv", "")
    for name in ("studio.js", "style.css", "charts.js"):
        assert (await visitor.get(f"/studio/assets/{name}")).status_code == 200
    assert (await visitor.get("/studio")).headers["location"] == "studio/"


@pytest.mark.anyio
async def test_an_episode_goes_on_over_http(visitor: httpx.AsyncClient) -> None:
    sitting = {"scenario_id": EASY, "seed": 2}
    first = (await visitor.post("/studio/api/episode", json=sitting)).json()
    assert [frame["observation"]["step"] for frame in first] == [0]
    action = {"action_type": "READ_ARTIFACT", "artifact_id": "ticket-4410"}
    frame = (await visitor.post("/studio/api/step", json={"sitting": sitting, "action": action})).json()
    assert (frame["said"], frame["observation"]["step"]) == ("read 1", 1)
    watched = (await visitor.post("/studio/api/next", json={**sitting, "policy": "rag"})).json()
    assert watched["observation"]["step"] == 1 and watched["forms"] == []
    case = (await visitor.get("/studio/api/cases/train/3")).json()
    assert case["scenario_id"] == scenario_store.at("train", 3)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("path", "body", "status", "told"),
    [
        ("episode", {"scenario_id": EASY[:-1]}, 400, "did you mean"),
        ("episode", {"scenario_id": EASY, "seed": -1}, 422, "seed"),
        ("episode", {"scenario_id": EASY, "seed": "x" * 5_000}, 422, "seed"),
        ("episode", {"scenario_id": EASY, "reveal": True}, 422, "reveal"),
        ("episode", {"scenario_id": EASY, "catalog": "moon"}, 400, "catalog"),
        ("episode", {"scenario_id": EASY, "actions": [{"action_type": "SEARCH_ARTIFACTS"}] * 41}, 422, "actions"),
        ("step", {"sitting": {"scenario_id": EASY}, "action": {"action_type": "FLY"}}, 422, "action_type"),
        ("next", {"scenario_id": EASY, "policy": "os:system"}, 400, "no policy"),
    ],
)
async def test_a_bad_request_is_told_in_one_line(
    visitor: httpx.AsyncClient, path: str, body: object, status: int, told: str
) -> None:
    reply = await visitor.post(
        f"/studio/api/{path}", content=json.dumps(body), headers={"content-type": "application/json"}
    )
    detail = reply.json()["detail"]
    assert (reply.status_code, "\n" in detail, len(detail) < 400) == (status, False, True)
    assert told in detail


@pytest.mark.anyio
@pytest.mark.parametrize(
    "path", ["assets/../routes.py", "assets/%2e%2e%2froutes.py", "assets/none.js", "api/cases/train/x"]
)
async def test_nothing_but_its_own_parts_is_served(visitor: httpx.AsyncClient, path: str) -> None:
    assert (await visitor.get(f"/studio/{path}")).status_code in (404, 422)


def test_every_fault_of_a_sitting_is_one_that_may_be_told() -> None:
    for sitting in (Sitting(scenario_id="no-such-case"), Sitting(scenario_id="incident-easy-g999999999")):
        with pytest.raises(CamreError):
            Table(reveal=False).frames(sitting)
