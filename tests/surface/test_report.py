"""The report in a real browser: offline, light and dark, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.surface import chromium
from TokenOptEnv import scenario_store
from TokenOptEnv.cli.main import run as camre

NAMES = ("cheapest", "rag", "random", "reference")
CASES = sorted(scenario_store.index().scenarios, key=lambda row: row.artifact_tokens)[:2]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Written as a user writes it."""
    chromium.binary()
    folder = tmp_path_factory.mktemp("run")
    named = [word for name in NAMES for word in ("--policy", name)]
    cases = [word for row in CASES for word in ("--scenario", row.scenario_id)]
    assert camre(["eval", *named, *cases, "--seeds", "0-1", "--workers", "1", "--out", str(folder)]) == 0
    assert camre(["report", str(folder), "--workers", "1"]) == 0
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Page]:
    with chromium.page(tmp_path_factory.mktemp("profile")) as tab:
        yield tab


@pytest.fixture
def page(browser: chromium.Page, file: Path) -> Iterator[chromium.Page]:
    browser.errors.clear()
    browser.requests.clear()
    browser.look(1280, 900)
    browser.open(file.as_uri())
    yield browser
    assert browser.errors == []


def test_it_opens_without_a_network_and_asks_for_nothing(page: chromium.Page, file: Path) -> None:
    assert {address for address in page.requests if not address.startswith("data:")} == {file.as_uri()}
    assert page.eval("document.title").startswith("CAMRE: ")


def test_every_chart_and_table_is_drawn(page: chromium.Page) -> None:
    charts = page.eval("[...document.querySelectorAll('main svg[role=img]')].map((s) => s.getAttribute('aria-label'))")
    for part in (
        "Pareto front",
        "within a budget",
        "multiples of the reference",
        "by term",
        "Working memory",
        "cached",
    ):
        assert any(part in label for label in charts), (part, charts)
    rows = page.eval("document.querySelectorAll('#board ~ .card table')[0].tBodies[0].rows.length")
    assert rows == len(NAMES)
    empty = page.eval(
        "[...document.querySelectorAll('main svg[role=img]')].filter((s) => s.childNodes.length < 3).length"
    )
    assert empty == 0
    assert "NaN" not in page.eval("document.querySelector('main').innerHTML")
    assert "undefined" not in page.eval("document.querySelector('main').innerText")


@pytest.mark.parametrize("width", [320, 390, 820, 1280])
def test_nothing_sticks_out_at_any_width(page: chromium.Page, width: int) -> None:
    page.look(width, 844)
    page.until(f"window.innerWidth === {width}")
    page.until("document.documentElement.scrollWidth <= window.innerWidth")


def test_it_follows_the_system_and_the_button(page: chromium.Page, file: Path) -> None:
    shade = "getComputedStyle(document.body).backgroundColor"
    light = page.eval(shade)
    page.look(1280, 900, dark=True)
    page.until("document.documentElement.dataset.theme === 'dark'")
    dark = page.eval(shade)
    assert light != dark
    page.eval("document.getElementById('theme').click()")
    assert page.eval(shade) == light


def test_the_viewer_steps_through_an_episode(page: chromium.Page) -> None:
    at = "document.querySelector('.stepper .at').textContent"
    assert page.eval(at).startswith("step 1 of ")
    first = page.eval("document.querySelector('.said').textContent")
    page.eval("document.querySelector('[aria-label=\"Next step\"]').click()")
    assert page.eval(at).startswith("step 2 of ")
    assert page.eval("document.querySelector('.said').textContent") != first
    assert page.eval("document.querySelectorAll('.theatre table tbody tr').length") >= 1
    assert "step=2" in page.eval("location.hash")
    page.eval("document.querySelector('[aria-label=\"Previous step\"]').click()")
    assert page.eval("document.querySelector('[aria-label=\"Previous step\"]').disabled")


def test_the_viewer_shows_every_policy_on_every_case(page: chromium.Page) -> None:
    assert page.eval("document.querySelectorAll('[aria-label=Case] option').length") == 2 * len(CASES)
    assert page.eval("document.querySelectorAll('.player').length") == len(NAMES)
    for number in range(len(NAMES)):
        page.eval(f"document.querySelectorAll('.player')[{number}].click()")
        name = page.eval("document.querySelector('.player[aria-pressed=true]').textContent")
        assert any(name.startswith(each) for each in NAMES)
        steps = page.eval("document.querySelector('.stepper input').max")
        page.eval(
            f"(() => {{ const s = document.querySelector('.stepper input'); s.value = {steps};"
            " s.dispatchEvent(new Event('input')); })()"
        )
        assert page.eval("document.querySelector('.verb').textContent")


def test_a_link_opens_the_step_it_names(page: chromium.Page, file: Path) -> None:
    page.open(f"{file.as_uri()}#case={CASES[1].scenario_id}%401&policy=rag&step=3")
    assert page.eval("document.querySelector('.stepper .at').textContent").startswith("step 3 of ")
    assert page.eval("document.querySelector('.player[aria-pressed=true]').textContent").startswith("rag")
    assert page.eval("document.querySelector('[aria-label=Case]').value") == f"{CASES[1].scenario_id}@1"


def test_groups_can_be_told_apart_by_any_dimension_and_measure(page: chromium.Page) -> None:
    for label in ("Difficulty", "Split", "Class", "Family"):
        page.eval(
            f"[...document.querySelectorAll('.segments button')].find((b) => b.textContent === '{label}').click()"
        )
        pressed = page.eval("document.querySelector('.segments button[aria-pressed=true]').textContent")
        assert pressed == label
    page.eval(
        "(() => { const s = document.querySelector('[aria-label=Measure]'); s.selectedIndex = 3;"
        " s.dispatchEvent(new Event('change')); })()"
    )
    assert "$" in page.eval("document.querySelector('#groups ~ .card tbody').innerText")


def test_a_point_tells_about_itself(page: chromium.Page) -> None:
    over = "new PointerEvent('pointermove', {clientX: 200, clientY: 300})"
    page.eval(f"document.querySelector('#front ~ .grid2 circle').dispatchEvent({over})")
    assert not page.eval("document.getElementById('tip').hidden")
    assert "solved" in page.eval("document.getElementById('tip').textContent")
