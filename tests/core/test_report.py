"""The report's data and its one file: everything in it, nothing fetched, nothing executed from what was played."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import cases
from TokenOptEnv.evaluation import report, runner, suite
from TokenOptEnv.evaluation.report.page import html
from TokenOptEnv.evaluation.report.watched import chosen
from TokenOptEnv.evaluation.run_folder import Run, RunFolder, load_run
from TokenOptEnv.evaluation.suite import RunOptions
from TokenOptEnv.models import ActionType

NAMES = ("cheapest", "random", "reference")


def played(folder: Path, *names: str) -> Run:
    spec = suite.run_spec(names, "core", [cases.TOY, cases.MARATHON], [0, 1], RunOptions())
    with RunFolder.opened(folder, spec) as held:
        for _ in runner.play(spec, held, workers=1):
            pass
    return load_run(folder)


@pytest.fixture
def run(tmp_path: Path, store: tuple[str, ...]) -> Iterator[Run]:
    yield played(tmp_path / "run", *NAMES)


def built(runs: list[Run], most: int = 100) -> report.Report:
    *_, made = report.build(runs, workers=1, most_watched=most)
    assert isinstance(made, report.Report)
    return made


def data_in(page: str) -> dict[str, Any]:
    encoded = page.split('id="data">', 1)[1].split("</script>", 1)[0]
    found: dict[str, Any] = json.loads(gzip.decompress(b64decode(encoded)))
    return found


def test_the_page_holds_everything_and_fetches_nothing(run: Run) -> None:
    page = html(built([run]))
    assert "{{data}}" not in page and not re.search(r"/\* (style|charts|viewer|page) \*/", page)
    assert not re.search(r"""(?:src|href)=["'](?!data:|#)""", page)
    assert "@import" not in page and "url(" not in page
    assert set(re.findall(r"https?://[^\s\"'`)]+", page)) == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in page


def test_the_data_survive_the_page(run: Run) -> None:
    made = built([run])
    data = data_in(html(made))
    assert data == json.loads(made.model_dump_json())
    assert [row["policy"] for row in data["board"]["ranking"]] == [policy["name"] for policy in data["policies"]]
    assert {group["dimension"] for group in data["groups"]} == {"family", "difficulty", "split", "class"}


def test_the_same_run_gives_the_same_page(run: Run) -> None:
    assert html(built([run])) == html(built([run]))


def test_watched_episodes_tell_what_each_step_brought_and_cost(run: Run) -> None:
    made = built([run])
    results = {(result.policy, result.scenario_id, result.seed): result for result in run.results}
    assert len(made.watched) == len(results)
    for episode in made.watched:
        result = results[episode.policy, episode.scenario_id, episode.seed]
        assert len(episode.steps) == result.steps
        assert sum(entry.nano_usd for step in episode.steps for entry in step.entries) == result.cost_nano_usd
        assert sum(step.reward for step in episode.steps) == pytest.approx(result.total_return, abs=1e-4)
        assert sum(step.refused for step in episode.steps) == result.refused
        assert all(step.lines for step in episode.steps if step.action == ActionType.ROUTE_SUBTASK)


def test_terms_add_up_to_the_mean_return(run: Run) -> None:
    made = built([run])
    for row, policy in zip(made.board.ranking, made.policies, strict=True):
        assert sum(policy.terms.values()) == pytest.approx(row.measures["return"].value, abs=1e-4)
        assert len(policy.solved_usd) == len(policy.solved_reference_usd) == row.solved


def test_the_viewer_keeps_every_policy_on_the_same_cases(run: Run) -> None:
    kept = chosen(run.results, 7)
    by_case: dict[tuple[str, int], set[str]] = {}
    for result in kept:
        by_case.setdefault((result.scenario_id, result.seed), set()).add(result.policy)
    assert len(kept) == 6 and all(names == set(NAMES) for names in by_case.values())
    assert chosen(run.results, 0) == () and built([run], 0).watched == ()


def test_two_runs_share_a_page_and_a_policy_of_both_goes_by_its_run(run: Run, tmp_path: Path) -> None:
    made = built([run, played(tmp_path / "later", "cheapest")])
    assert {policy.name for policy in made.policies} == {"cheapest (run)", "cheapest (later)", "random", "reference"}
    assert {episode.policy for episode in made.watched} == {policy.name for policy in made.policies}


def test_a_name_cannot_break_out_of_the_page(run: Run) -> None:
    made = built([run])
    evil = "</script><script>alert(1)</script>"
    board = made.board.model_copy(update={"title": evil})
    page = html(made.model_copy(update={"board": board}))
    assert evil not in page
    assert data_in(page)["board"]["title"] == evil
