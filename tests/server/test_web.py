"""The web interface, where it is asked for: it plays, and its faults speak like every other surface's."""

from __future__ import annotations

import gc
from asyncio import BaseEventLoop

import httpx

from tests.server.live import KAFKA, ask, thread
from TokenOptEnv.server.app import build_app
from TokenOptEnv.server.settings import Settings

_READ = {"action_type": "READ_ARTIFACT", "artifact_id": "ticket-9602"}


def _open_loops() -> set[int]:
    return {id(each) for each in gc.get_objects() if issubclass(type(each), BaseEventLoop) and not each.is_closed()}


def test_building_the_web_interface_leaves_no_event_loop_open() -> None:
    before = _open_loops()
    app = build_app(Settings(web=True))
    assert _open_loops() <= before
    assert app.routes


def test_the_web_interface_plays_beside_the_sessions() -> None:
    with thread(Settings(web=True)) as here, httpx.Client(base_url=here.url, timeout=20) as web:
        assert web.get("/web/").status_code == 200
        assert web.post("/web/reset", json={"scenario_id": KAFKA}).json()["observation"]["step"] == 0
        assert web.post("/web/step", json={"action": _READ}).json()["observation"]["step"] == 1
        wrong = web.post("/web/step", json={"action": {"action_type": "FLY"}})
        assert (wrong.status_code, wrong.json()["detail"].split(":")[0]) == (422, "action_type")
        assert "did you mean" in web.post("/web/reset", json={"scenario_id": KAFKA[:-1]}).json()["detail"]
        with here.connect() as socket:
            assert ask(socket, {"type": "state"})["data"]["step_count"] == 0


def test_without_being_asked_for_there_is_no_web_interface() -> None:
    with thread(Settings()) as here:
        assert httpx.get(f"{here.url}/web/").status_code == 404
