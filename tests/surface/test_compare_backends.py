"""`camre compare-backends`: two rankings, side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases import TOY
from tests.core.live_cases import (
    right,
)
from tests.core.live_server import serving
from TokenOptEnv import LocalEnv
from TokenOptEnv.backends.live_settings import KEY
from TokenOptEnv.backends.recording import read
from TokenOptEnv.cli.main import run
from TokenOptEnv.evaluation.backend_comparison import Pair, compared
from TokenOptEnv.evaluation.episodes import play as play_episode


def _compare(*arguments: str) -> int:
    return run(["compare-backends", "--scenario", TOY, "--policies", "cheapest,rag", *arguments])


@pytest.mark.usefixtures("store")
def test_a_live_run_and_its_recording_compare_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY, raising=False)
    file = tmp_path / "answers.jsonl"
    with serving(right) as server:
        assert _compare("--b", f"live:{server.url}", "--record", str(file), "--cap-usd", "0.5", "--json") == 0
        asked = len(server.asked)
    first = json.loads(capsys.readouterr().out)
    assert asked and {asked.body["model"] for asked in server.asked}
    assert _compare("--b", f"recorded:{file}", "--json") == 0
    second = json.loads(capsys.readouterr().out)
    assert second["gaps"] == first["gaps"] and second["tau"] == first["tau"]
    assert {gap["policy"] for gap in first["gaps"]} == {"cheapest", "rag"}
    assert all(gap["b"]["success"] == 1.0 for gap in first["gaps"])
    assert _compare("--b", f"recorded:{file}") == 0
    shown = capsys.readouterr().out
    assert "Kendall's tau of the two rankings" in shown and max(map(len, shown.splitlines()[1:])) <= 80


@pytest.mark.usefixtures("store")
def test_a_ranking_against_itself_is_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert _compare("--b", "simulated", "--seeds", "0-2", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["tau"] == 1.0
    assert all(gap["a"] == gap["b"] and gap["agreement"] == 1.0 for gap in found["gaps"])


@pytest.mark.usefixtures("store")
def test_a_comparison_that_reaches_its_cap_ends_in_one_line_and_keeps_its_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "answers.jsonl"
    with serving(lambda body: right(body, completion_tokens=1_500)) as server:
        arguments = ["--b", f"live:{server.url}", "--record", str(file), "--cap-usd", "0.01", "--seeds", "0-3"]
        arguments += ["--policies", "strongest-only"]
        code = run(["compare-backends", "--scenario", TOY, "--policies", "cheapest,rag", *arguments])
        asked = len(server.asked)
    shown = capsys.readouterr()
    assert code == 1 and shown.out == ""
    assert shown.err.count("\n") == 1 and "is left of the cap of $0.010000" in shown.err
    tally = read(file)
    assert len(tally.answers) == asked and tally.spent_nano_usd <= 10_000_000


MISUSED: list[tuple[list[str], str]] = [
    (["--b", "recorded:nowhere.jsonl"], "there is no recording"),
    (["--b", "live:http://127.0.0.1:9/v1"], "name a file with --record"),
    (["--a", "live:http://a.b/v1", "--b", "live:http://c.d/v1"], "both backends are live"),
    (["--b", "simulated", "--cap-usd", "much"], "--cap-usd must be an amount in dollars"),
    (["--b", "simulated", "--served-as", "="], "a served model is written MODEL=NAME"),
    ([], "'--b'"),
]


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(("arguments", "cause"), MISUSED)
def test_a_wrong_comparison_is_one_line(
    arguments: list[str], cause: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CAMRE_LIVE_RECORD", raising=False)
    assert _compare(*arguments) in (1, 2)
    shown = capsys.readouterr()
    assert cause in shown.err and shown.err.count("\n") == 1 and shown.out == ""


def test_a_comparison_takes_two_contestants(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare-backends", "--b", "simulated", "--policies", "cheapest,reference"]) == 1
    assert "a ranking takes two contestants" in capsys.readouterr().err


@pytest.mark.usefixtures("store")
def test_a_reversed_ranking_has_a_tau_of_minus_one() -> None:
    results = [play_episode(name, TOY, 0, LocalEnv()).result for name in ("cheapest", "rag")]
    scores = [result.score.model_copy(update={"sce": 0.2 * place}) for place, result in enumerate(results)]
    up = [each.model_copy(update={"score": score}) for each, score in zip(results, scores, strict=True)]
    down = [each.model_copy(update={"score": score}) for each, score in zip(results, scores[::-1], strict=True)]
    found = compared("a", "b", [Pair(*pair) for pair in zip(up, down, strict=True)])
    assert found.tau == -1.0
    assert [(gap.policy, gap.a.rank, gap.b.rank) for gap in found.gaps] == [("rag", 1, 2), ("cheapest", 2, 1)]
