"""The Studio in a real browser: played by hand, watched, compared, on a desk and on a phone.

With CAMRE_WRITE_SCREENSHOTS=1 the pictures of docs/studio.md are made anew; otherwise nothing is written.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.surface import chromium
from TokenOptEnv import LocalEnv, TokenOptEnvAction, scenario_store
from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.models import ActionType
from TokenOptEnv.plans import reference_plan

if find_spec("openenv") is None:
    pytest.skip("OpenEnv is not installed; install it: pip install -e '.[server]'", allow_module_level=True)

ROOT = Path(__file__).resolve().parent.parent.parent
KAFKA = "incident-medium-kafka-backpressure"
EASY = "incident-easy-orders-cell2"
GENERATED = 25
PICTURES = os.environ.get("CAMRE_WRITE_SCREENSHOTS") == "1"
_USED = ("button", "link", "textbox", "combobox", "checkbox", "radio", "slider", "spinbutton", "meter")
WIDTHS = (320, 390, 820)
_FILL = """(fields) => {
  const form = document.querySelector('.action-form');
  const names = [...form.querySelectorAll('[data-field]')].map((field) => field.dataset.field);
  for (const name of names.filter((each) => each in fields)) {
    const asked = () => form.querySelector(`[data-field="${name}"]`);
    for (const each of [fields[name]].flat()) {
      const choices = [...asked().querySelectorAll('input[type=radio], input[type=checkbox]')];
      const choice = choices.find((input) => input.value === each);
      if (choice) { choice.click(); continue; }
      const input = asked().querySelector('input, textarea');
      input.value = each;
      input.dispatchEvent(new Event('input'));
    }
  }
}"""

_PALE = """(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const over = (colour, below) => {
    canvas.fillStyle = `rgb(${below.join(' ')})`; canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const behind = (node) => {
    const under = node.parentElement ? behind(node.parentElement) : [255, 255, 255];
    return over(getComputedStyle(node).backgroundColor, under);
  };
  const light = (rgb) => {
    const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = rgb.map((part) => linear(part / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const found = [];
  for (const node of document.body.querySelectorAll('*')) {
    const says = [...node.childNodes].some((each) => each.nodeType === 3 && each.textContent.trim());
    if (!says || !node.checkVisibility() || node.closest('svg, option, script, :disabled')) continue;
    const ground = behind(node);
    const pair = [light(over(getComputedStyle(node).color, ground)), light(ground)];
    const contrast = Math.max(...pair) / Math.min(...pair);
    const name = node.className || node.tagName;
    if (contrast < 4.5) found.push(`${document.documentElement.dataset.theme} ${name}: ${contrast.toFixed(1)}`);
  }
  return found;
})()"""


class Visitor:
    """A tab at the Studio, and hands to use it."""

    def __init__(self, page: chromium.Page, url: str) -> None:
        self.page = page
        self.url = url

    def visit(self, place: str = "") -> None:
        self.page.call("Page.navigate", url="about:blank")
        self.page.call("Page.navigate", url=f"{self.url}/studio/{place}")
        self.settled()

    def settled(self) -> None:
        self.page.until("document.body && document.body.dataset.ready === 'yes'")

    def click(self, selector: str) -> None:
        self.until_there(selector)
        self.page.eval(f"document.querySelector({json.dumps(selector)}).click()")

    def until_there(self, selector: str) -> None:
        self.page.until(f"document.querySelector({json.dumps(selector)}) !== null")

    def text(self, selector: str) -> str:
        self.until_there(selector)
        return str(self.page.eval(f"document.querySelector({json.dumps(selector)}).innerText"))

    def count(self, selector: str) -> int:
        return int(self.page.eval(f"document.querySelectorAll({json.dumps(selector)}).length"))

    def select(self, selector: str, value: str) -> None:
        self.page.eval(
            f"(() => {{ const s = document.querySelector({json.dumps(selector)}); s.value = {json.dumps(value)};"
            " s.dispatchEvent(new Event('change')); })()"
        )

    def begin(self, scenario_id: str, policy: str | None = None) -> None:
        self.visit()
        self.click(f'[data-case="{scenario_id}"]')
        self.play(policy)

    def begin_at(self, place: int, policy: str) -> str:
        """A generated case, by its place in train."""
        self.click(".controls .segments button:nth-child(2)")
        self.page.eval(f"document.getElementById('place').value = {place}")
        self.click(".by-index button")
        wanted = scenario_store.at("train", place)
        self.page.until(f"document.querySelector('[name=scenario_id]').value === '{wanted}'")
        self.play(policy)
        return wanted

    def play(self, policy: str | None) -> None:
        if policy is not None:
            self.click(".begin .segments button:nth-child(2)")
            self.select("[name=policy]", policy)
        self.click(".begin button[type=submit]")
        self.page.until("location.hash.startsWith('#/play/')")
        self.settled()

    def act(self, action: TokenOptEnvAction) -> None:
        """Through the menu and the form, as a person would."""
        steps = self.count(".film button")
        self.click(f'.move[data-action="{action.action_type.value}"]')
        fields = action.model_dump(mode="json", exclude_defaults=True, exclude={"action_type"})
        self.page.eval(f"({_FILL})({json.dumps(fields)})")
        self.click(".action-form .act:not(:disabled)")
        self.page.until(f"document.querySelectorAll('.film button').length === {steps + 1}")

    def press(self, key: str, **more: Any) -> None:
        for kind in ("keyDown", "keyUp"):
            self.page.call("Input.dispatchKeyEvent", type=kind, key=key, **(more if kind == "keyDown" else {}))

    def fits(self) -> None:
        self.page.until("document.documentElement.scrollWidth <= window.innerWidth")

    def picture(self, name: str) -> None:
        if not PICTURES:
            return
        self.page.eval("new Promise((done) => setTimeout(done, 900))")  # what moves has come to rest
        taken = self.page.call("Page.captureScreenshot", format="png")
        folder = ROOT / "docs" / "images"
        folder.mkdir(exist_ok=True)
        (folder / f"studio-{name}.png").write_bytes(base64.b64decode(taken["data"]))


@pytest.fixture(scope="module")
def studio() -> Iterator[str]:
    """The Studio by itself, as a server that was told to reveal has it."""
    chromium.binary()
    import uvicorn
    from fastapi import FastAPI

    from TokenOptEnv.server import http_faults
    from TokenOptEnv.server.studio import routes
    from TokenOptEnv.server.studio.table import Table

    app = FastAPI()
    app.include_router(routes.router(Table(reveal=True)))
    http_faults.install(app, 1_048_576)
    running = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None))
    worker = threading.Thread(target=lambda: asyncio.run(running.serve()), daemon=True)
    worker.start()
    while not running.started:
        assert worker.is_alive()
        time.sleep(0.02)
    yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}"
    running.should_exit = True
    worker.join(timeout=20)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, studio: str) -> Iterator[chromium.Page]:
    with chromium.page(tmp_path_factory.mktemp("profile")) as tab:
        tab.call("Emulation.setScrollbarsHidden", hidden=PICTURES)
        yield tab


@pytest.fixture
def visitor(browser: chromium.Page, studio: str) -> Iterator[Visitor]:
    browser.errors.clear()
    browser.requests.clear()
    browser.look(1280, 860)
    at = Visitor(browser, studio)
    at.visit()
    browser.eval("localStorage.clear()")
    at.visit()
    yield at
    assert browser.errors == []
    strange = {address for address in browser.requests if not address.startswith((studio, "about:", "data:"))}
    assert strange == set()


def actions(scenario_id: str) -> tuple[TokenOptEnvAction, ...]:
    return reference_plan(scenario_store.load(scenario_id), 0, EpisodeConfig()).actions


def test_an_incident_is_solved_by_hand_and_the_plan_then_stands_beside_it(visitor: Visitor) -> None:
    visitor.picture("cases")
    visitor.begin(KAFKA)
    env = LocalEnv()
    seen = env.reset(scenario_id=KAFKA)
    for action in actions(KAFKA):
        assert visitor.count(".move") == len(seen.legal_actions.actions)
        assert "truth" not in visitor.text("#main").lower()
        if action.action_type is ActionType.ROUTE_SUBTASK and not seen.routing.routes:
            visitor.click("[data-paper=artifacts]")
            visitor.picture("play")
            visitor.page.look(390, 844)
            visitor.picture("phone")
            visitor.page.look(1280, 860)
        visitor.act(action)
        seen = env.step(action)
        assert visitor.count(".membar button") == len(seen.working_memory.items)
        assert f"{seen.working_memory.token_budget_used:,} of" in visitor.text(".memory-head .used")
    assert seen.score is not None and seen.score.success
    assert visitor.text(".score .verdict") == "Solved"
    assert f"{seen.score.total_return:.3f}" in visitor.text(".score-head")
    visitor.page.until("document.querySelectorAll('.beside .steps').length === 2")
    assert visitor.count(".beside .steps:last-child li") == len(actions(KAFKA))
    assert "queue_backpressure" in visitor.text(".revealed")
    assert visitor.count(".move") == 0


def test_a_small_artifact_is_read_and_its_text_opens_from_the_bar(visitor: Visitor) -> None:
    visitor.begin(EASY)
    visitor.act(TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id="ticket-4410"))
    visitor.click(".membar button")
    assert "INC-4410" in visitor.text("#reader")
    visitor.press("Escape", code="Escape", windowsVirtualKeyCode=27)
    visitor.page.until("!document.getElementById('reader').open")
    visitor.click("[data-paper=artifacts]")
    assert visitor.count(".cell.held") == 1


def test_a_form_says_what_is_missing_and_sends_nothing_before(visitor: Visitor) -> None:
    first = LocalEnv().reset(scenario_id=EASY).task.subtasks[0]
    visitor.begin(EASY)
    visitor.click('.move[data-action="ROUTE_SUBTASK"]')
    assert visitor.page.eval("document.querySelector('.action-form .act').disabled")
    assert visitor.text(".form-note") == "Which question?"
    visitor.page.eval(f"({_FILL})({json.dumps({'subtask_id': first.subtask_id})})")
    assert visitor.text(".form-note") == "Which model?"
    visitor.click(".form-head .ghost")
    assert visitor.count(".move") > 3
    assert visitor.count(".film button") == 1


def test_the_keyboard_alone_searches_and_looks_back(visitor: Visitor) -> None:
    visitor.begin(EASY)
    visitor.press("2", code="Digit2", text="2")
    visitor.until_there('.action-form[data-action="SEARCH_ARTIFACTS"]')
    visitor.page.call("Input.insertText", text="switchover")
    visitor.press("Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    visitor.page.until("document.querySelectorAll('.film button').length === 2")
    assert visitor.text(".result .said") == "find switchover"
    visitor.press("ArrowLeft", code="ArrowLeft")
    assert "looking at the beginning" in visitor.text(".back")
    visitor.press("ArrowRight", code="ArrowRight")
    assert visitor.count(".back") == 0
    visitor.press("1", code="Digit1", text="1")
    visitor.until_there('.action-form[data-action="READ_ARTIFACT"]')
    visitor.press("Escape", code="Escape")
    visitor.page.until("document.querySelector('.action-form') === null")


def test_a_policy_is_watched_step_by_step_and_to_its_end(visitor: Visitor) -> None:
    visitor.begin(KAFKA, "rag")
    assert visitor.count(".move") == 0
    for step in (1, 2, 3):
        visitor.click("[data-player=next]")
        visitor.page.until(f"document.querySelectorAll('.film button').length === {step + 1}")
    visitor.click("[data-paper=ledger]")
    assert visitor.count(".ledger tbody tr") == 4  # three decisions, one reply
    visitor.page.look(1280, 860, dark=True)
    visitor.page.until("document.documentElement.dataset.theme === 'dark'")
    visitor.picture("watch")
    visitor.click("[data-player=end]")
    visitor.until_there(".score .verdict")
    assert "rag plays" in visitor.text(".episode-head")


def test_a_policy_plays_on_by_itself_until_it_is_paused(visitor: Visitor) -> None:
    visitor.begin(EASY, "cheapest")
    visitor.select("[aria-label=Pace]", "250")
    visitor.click("[data-player=play]")
    visitor.page.until("document.querySelectorAll('.film button').length >= 3")
    visitor.page.until("document.querySelector('.score') !== null")


def test_two_episodes_of_one_case_are_compared(visitor: Visitor) -> None:
    visitor.begin_at(GENERATED, "rag")
    visitor.click("[data-player=end]")
    visitor.click(".score .act")
    visitor.until_there("[aria-label=Policy]")
    visitor.select("[aria-label=Policy]", "brute-force")
    visitor.click("[data-compare=play]")
    visitor.page.until("document.querySelectorAll('.lists').length === 2")
    heads = visitor.page.eval("[...document.querySelectorAll('.figures th a')].map((each) => each.textContent)")
    assert heads == ["rag", "brute-force"]
    labels = visitor.page.eval(
        "[...document.querySelectorAll('svg[role=img]')].map((s) => s.getAttribute('aria-label'))"
    )
    assert len(labels) == 5
    shown = visitor.text(".lists:last-child .result")
    visitor.click(".lists .steps li:nth-child(2) button")
    assert visitor.text(".lists:last-child .result") != shown
    whole = visitor.page.eval("document.querySelector('main').innerHTML")
    assert "NaN" not in whole and "undefined" not in whole
    visitor.picture("compare")


def test_an_episode_survives_a_reload(visitor: Visitor) -> None:
    visitor.begin(EASY)
    visitor.act(TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id="ticket-4410"))
    visitor.visit(visitor.page.eval("location.hash"))
    assert visitor.count(".film button") == 2
    visitor.visit()
    assert "step 1" in visitor.text(".earlier")


def test_a_generated_case_is_chosen_by_its_place_and_played_to_its_score(visitor: Visitor) -> None:
    assert visitor.begin_at(GENERATED, "expert") in visitor.text(".episode-head")
    visitor.click("[data-player=end]")
    visitor.page.until("document.querySelectorAll('.beside .steps').length === 2")
    visitor.click("[data-paper=ledger]")
    visitor.page.look(1280, 1240)
    visitor.picture("end")
    assert "of 0.40" in visitor.text(".score .terms")


def test_a_family_that_was_chosen_does_not_hide_the_cases_of_another_split(visitor: Visitor) -> None:
    visitor.click("[aria-label=Family] button:last-child")
    assert 0 < visitor.count(".case") < len(scenario_store.ids())
    for split in ("train", "core"):
        visitor.click(f"[aria-label=Split] button:nth-child({scenario_store.SPLITS.index(split) + 1})")
    assert visitor.text("[aria-label=Family] [aria-pressed=true]") == "All"
    assert visitor.count(".case") == len(scenario_store.ids())


def test_a_case_that_does_not_exist_is_told_in_one_line(visitor: Visitor) -> None:
    visitor.page.eval("document.querySelector('[name=scenario_id]').value = 'incident-easy-orders-cell3'")
    visitor.click(".begin button[type=submit]")
    visitor.page.until("!document.getElementById('notice').hidden")
    assert "did you mean 'incident-easy-orders-cell2'" in visitor.text("#notice")
    assert visitor.page.errors == ["Failed to load resource: the server responded with a status of 400 (Bad Request)"]
    visitor.page.errors.clear()


def test_nothing_sticks_out_at_any_width(visitor: Visitor) -> None:
    visitor.begin(KAFKA, "expert")
    visitor.click("[data-player=end]")
    visitor.page.until("document.querySelectorAll('.beside .steps').length === 2")
    over = visitor.page.eval("location.hash")
    visitor.begin(KAFKA)
    for action in actions(KAFKA)[:4]:
        visitor.act(action)
    running = visitor.page.eval("location.hash")
    for width in WIDTHS:
        visitor.page.look(width, 844)
        for place in ("", over, running, f"#/compare/{over.rpartition('/')[2]}/{running.rpartition('/')[2]}"):
            visitor.visit(place)
            visitor.fits()
        visitor.visit(running)
        for paper in range(visitor.count(".papers button")):
            visitor.click(f".papers button:nth-child({paper + 1})")
            visitor.fits()
        for kind in visitor.page.eval("[...document.querySelectorAll('.move')].map((move) => move.dataset.action)"):
            visitor.click(f'.move[data-action="{kind}"]')
            visitor.fits()
            visitor.click(".form-head .ghost")


def test_everything_that_can_be_used_has_a_name(visitor: Visitor) -> None:
    visitor.begin(KAFKA)
    for action in actions(KAFKA)[:4]:
        visitor.act(action)
    running = visitor.page.eval("location.hash")
    for place in ("", running, f"#/compare/{running.rpartition('/')[2]}"):
        visitor.visit(place)
        kinds = visitor.page.eval("[...document.querySelectorAll('.move')].map((move) => move.dataset.action)")
        for kind in (None, *kinds):
            if kind is not None:
                visitor.click(f'.move[data-action="{kind}"]')
            tree = visitor.page.call("Accessibility.getFullAXTree")["nodes"]
            used = [node for node in tree if not node["ignored"] and node["role"]["value"] in _USED]
            assert len(used) > 5
            assert [node["role"]["value"] for node in used if not node.get("name", {}).get("value")] == []
            if kind is not None:
                visitor.click(".form-head .ghost")


def test_every_word_stands_out_from_what_is_behind_it(visitor: Visitor) -> None:
    """4.5 to 1, light and dark: what people who see less well can still read."""
    visitor.begin(KAFKA, "expert")
    visitor.click("[data-player=end]")
    visitor.until_there(".beside .steps")
    over = visitor.page.eval("location.hash")
    visitor.begin(KAFKA)
    for action in actions(KAFKA)[:5]:
        visitor.act(action)
    running = visitor.page.eval("location.hash")
    pale = set()
    for dark in (False, True):
        visitor.page.look(1280, 860, dark=dark)
        for place in ("", over, f"#/compare/{over.rpartition('/')[2]}/{running.rpartition('/')[2]}", running):
            visitor.visit(place)
            pale.update(visitor.page.eval(_PALE))
        for paper in range(visitor.count(".papers button")):
            visitor.click(f".papers button:nth-child({paper + 1})")
            pale.update(visitor.page.eval(_PALE))
        for kind in visitor.page.eval("[...document.querySelectorAll('.move')].map((move) => move.dataset.action)"):
            visitor.click(f'.move[data-action="{kind}"]')
            pale.update(visitor.page.eval(_PALE))
            visitor.click(".form-head .ghost")
    assert sorted(pale) == []


def test_it_follows_the_system_and_the_button(visitor: Visitor) -> None:
    shade = "getComputedStyle(document.body).backgroundColor"
    light = visitor.page.eval(shade)
    visitor.page.look(1280, 860, dark=True)
    visitor.page.until("document.documentElement.dataset.theme === 'dark'")
    assert visitor.page.eval(shade) != light
    visitor.click("#theme")
    assert visitor.page.eval(shade) == light


def test_openenvs_web_interface_shows_the_studio_and_no_shared_playground(browser: chromium.Page) -> None:
    """As `camre serve --web` starts it, in a process of its own. Gradio's shell asks that process alone."""
    from tests.server.live import process

    browser.errors.clear()
    browser.requests.clear()

    with process("TokenOptEnv.server.app:app", ENABLE_WEB_INTERFACE="true") as server:
        browser.look(1280, 860)
        browser.call("Page.navigate", url=f"{server.url}/web/")
        inside = "document.querySelector('iframe') && document.querySelector('iframe').contentDocument"
        browser.until(f"Boolean({inside} && {inside}.body && {inside}.body.dataset.ready === 'yes')")
        assert browser.eval(f"{inside}.querySelectorAll('.case').length") == len(scenario_store.ids())
        assert "Playground" not in browser.eval("document.body.innerText")
        browser.eval("new Promise((done) => setTimeout(done, 500))")  # what is asked for late has been
        assert browser.errors == []
        assert [each for each in browser.requests if not each.startswith((server.url, "about:", "data:"))] == []
        browser.call("Page.navigate", url="about:blank")
