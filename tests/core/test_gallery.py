"""The gallery: pages that show cases as they are, and plots that are plain, sound SVG."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

from TokenOptEnv.cli.main import run
from TokenOptEnv.config import Difficulty
from TokenOptEnv.evaluation import gallery
from TokenOptEnv.evaluation.spread_plot import Panel, spread_plot
from TokenOptEnv.scenario_store.splits import GENERATED_FAMILIES, generate
from TokenOptEnv.task_defs.generation import Split, split_of

_SVG = "{http://www.w3.org/2000/svg}"


@cache
def pages() -> dict[str, str]:
    examples = {family: generate(gallery.example(family)) for family in GENERATED_FAMILIES}
    samples = {family: [(gallery.example(family), examples[family])] for family in GENERATED_FAMILIES}
    return {page.path: page.text for page in gallery.pages(examples, samples)}


def circles(svg: str) -> list[float]:
    return [float(each.attrib["cx"]) for each in ElementTree.fromstring(svg).iter(f"{_SVG}circle")]


def test_there_is_a_front_page_and_a_page_and_a_plot_for_each_family() -> None:
    own = [f"scenarios/{family}.{ending}" for family in GENERATED_FAMILIES for ending in ("md", "svg")]
    assert sorted(pages()) == sorted(["scenarios.md", *own])
    for family in GENERATED_FAMILIES:
        assert f"(scenarios/{family}.md)" in pages()["scenarios.md"]


@pytest.mark.parametrize("family", GENERATED_FAMILIES)
def test_a_family_page_tells_one_train_case_with_its_answer(family: str) -> None:
    case = gallery.example(family)
    scenario = generate(case)
    text = pages()[f"scenarios/{family}.md"]
    assert split_of(case.number) is Split.TRAIN
    assert case.scenario_id in text
    assert " ".join(scenario.public.brief.split()) in text
    for truth in scenario.hidden.fields:
        assert f"`{truth.accepted[0].splitlines()[0]}`" in text
    decisive = {fact.fact_id: fact for fact in scenario.hidden.facts}[scenario.hidden.fields[0].path[0]]
    excerpt = text.split("```text\n")[1].split("\n```")[0]
    assert decisive.places[0].text[:120] in excerpt


@pytest.mark.parametrize("family", GENERATED_FAMILIES)
def test_a_plot_has_a_dot_for_every_case_and_quantity(family: str) -> None:
    assert len(circles(pages()[f"scenarios/{family}.svg"])) == 5


def test_no_case_of_the_gallery_is_one_that_is_tested() -> None:
    cases = [case for family in GENERATED_FAMILIES for case in gallery.sample(family, 3)]
    assert {split_of(case.number) for case in cases} == {Split.TRAIN}
    assert len(cases) == len(set(cases)) == 3 * len(GENERATED_FAMILIES) * len(Difficulty)


@pytest.mark.parametrize("numbers", [[0, 10, 20], [5, 500, 50_000]])
def test_more_is_further_to_the_right_on_either_axis(numbers: Sequence[int]) -> None:
    places = circles(spread_plot("a plot", [Panel("tokens", {"easy": numbers})]))
    assert places == sorted(places)
    assert len(set(places)) == 3
    assert all(0 < place < 760 for place in places)


def test_an_empty_row_and_odd_signs_do_not_break_a_plot() -> None:
    svg = spread_plot("a < b & c", [Panel("x & y", {"<easy>": [], "hard": [3]})])
    root = ElementTree.fromstring(svg)
    assert [each.text for each in root.iter(f"{_SVG}title")] == ["a < b & c"]
    assert "<easy>" in [each.text for each in root.iter(f"{_SVG}text")]


def test_nothing_to_plot_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scenarios", "gallery", "--out", str(tmp_path), "--each", "0"]) == 1
    assert "give 1 or more" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
