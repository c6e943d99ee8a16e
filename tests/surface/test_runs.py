"""The commands around a run, as a user types them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from TokenOptEnv import policies, scenario_store
from TokenOptEnv.cli.main import run
from TokenOptEnv.evaluation import marked_block
from TokenOptEnv.evaluation.comparisons import Comparison

ROOT = Path(__file__).resolve().parents[2]
SMALLEST = min(scenario_store.index().scenarios, key=lambda row: row.artifact_tokens).scenario_id
Out = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("run")
    chosen = ["--policy", "cheapest", "--policy", "rag", "--policy", "reference", "--scenario", SMALLEST]
    assert run(["eval", *chosen, "--seeds", "0-1", "--workers", "1", "--out", str(made)]) == 0
    return made


def trace(folder: Path, policy: str) -> str:
    return str(folder / "traces" / policy / f"{SMALLEST}@1.jsonl")


def test_a_leaderboard_says_what_it_proves(folder: Path, capsys: Out) -> None:
    assert run(["leaderboard", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert shown.index("reference*") < shown.index("cheapest")
    assert "What it does not prove: who chose the actions" in " ".join(shown.split())
    assert run(["leaderboard", str(folder), "--json"]) == 0
    assert {row["policy"] for row in json.loads(capsys.readouterr().out)["ranking"]} == {"cheapest", "rag", "reference"}


def test_an_unfinished_run_is_ranked_on_what_every_policy_has_played(folder: Path, tmp_path: Path, capsys: Out) -> None:
    (tmp_path / "run.json").write_bytes((folder / "run.json").read_bytes())
    lines = (folder / "results.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "results.jsonl").write_bytes(b"".join(lines[:-1]))
    assert run(["leaderboard", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "1 scenarios, 1 episodes a policy" in shown and "is not finished: 5 of 6 episodes" in shown
    (tmp_path / "results.jsonl").write_bytes(b"")
    assert run(["leaderboard", str(tmp_path)]) == 1
    assert "holds no finished episode yet" in capsys.readouterr().err


def test_runs_that_cannot_be_compared_are_told_apart(folder: Path, tmp_path: Path, capsys: Out) -> None:
    other = ["--policy", "random", "--scenario", SMALLEST, "--workers", "1"]
    assert run(["eval", *other, "--seeds", "0", "--catalog", "current", "--out", str(tmp_path / "a")]) == 0
    assert run(["eval", *other, "--seeds", "7", "--out", str(tmp_path / "b")]) == 0
    capsys.readouterr()
    assert run(["leaderboard", str(folder), str(tmp_path / "a")]) == 1
    assert "cannot stand on one board: catalog" in capsys.readouterr().err
    assert run(["leaderboard", str(folder), str(tmp_path / "b")]) == 1
    assert "no episode in common" in capsys.readouterr().err


def test_a_run_verifies_and_a_changed_one_does_not(folder: Path, tmp_path: Path, capsys: Out) -> None:
    assert run(["verify-run", str(folder), "--workers", "1"]) == 0
    assert "6 episodes, 0 faults" in capsys.readouterr().out
    for file in folder.rglob("*"):
        if file.is_file() and file.suffix != ".html":
            copy = tmp_path / file.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
    broken = Path(trace(tmp_path, "cheapest"))
    broken.write_text(broken.read_text(encoding="utf-8").replace('"nano_usd":', '"nano_usd":1', 1), encoding="utf-8")
    assert run(["verify-run", str(tmp_path), "--workers", "1", "--json"]) == 1
    (fault,) = json.loads(capsys.readouterr().out)
    assert fault["place"] == f"cheapest on {SMALLEST}@1"
    assert "step 1: entries is" in fault["cause"]


def test_a_trace_is_replayed_to_its_score(folder: Path, capsys: Out) -> None:
    assert run(["replay", trace(folder, "cheapest"), "--delay", "0", "--no-color"]) == 0
    shown = capsys.readouterr().out
    assert SMALLEST in shown and "SEARCH_ARTIFACTS" in shown and "Return" in shown


def test_a_changed_trace_is_replayed_and_told(folder: Path, tmp_path: Path, capsys: Out) -> None:
    text = Path(trace(folder, "cheapest")).read_text(encoding="utf-8")
    changed = re.sub(r'"reward":[-.0-9]+', '"reward":0.9', text, count=1)
    (tmp_path / "changed.jsonl").write_text(changed, encoding="utf-8")
    assert run(["replay", str(tmp_path / "changed.jsonl"), "--delay", "0", "--no-color"]) == 1
    told = capsys.readouterr().err
    assert "is not what this engine plays" in told and "reward is '0.9'" in told


def test_a_diff_shows_where_two_policies_part(folder: Path, capsys: Out) -> None:
    assert run(["diff", trace(folder, "cheapest"), trace(folder, "rag")]) == 0
    shown = capsys.readouterr().out
    assert "cheapest" in shown and "rag" in shown and "solved" in shown and "…" not in shown
    assert run(["diff", str(folder / "traces" / "cheapest"), str(folder / "traces" / "rag"), "--json"]) == 0
    assert {each["seed"] for each in json.loads(capsys.readouterr().out)} == {0, 1}
    assert run(["diff", trace(folder, "rag"), trace(folder, "rag")]) == 0
    assert "The same actions to the end." in capsys.readouterr().out
    assert run(["diff", trace(folder, "rag"), str(folder)]) == 1


def test_sensitivity_is_one_table(capsys: Out) -> None:
    chosen = ["--policy", "cheapest", "--policy", "random", "--episodes", "1", "--seeds", "0", "--workers", "1"]
    assert run(["sensitivity", *chosen]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("rho", "confidence", "controller price", "price table", "catalog", "tau"))
    assert run(["sensitivity", "--policy", "reference", "--policy", "random"]) == 1
    assert "takes two contestants" in capsys.readouterr().err


def test_a_policy_of_ones_own_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    (tmp_path / "own_agent.py").write_text(
        "from TokenOptEnv.policies.cheapest import Cheapest\nclass Agent(Cheapest):\n    pass\n", encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    line = [
        "eval",
        "--policy",
        "own_agent:Agent",
        "--policy",
        "cheapest",
        "--scenario",
        SMALLEST,
        "--seeds",
        "0",
        "--json",
    ]
    assert run(line) == 0
    first, second = json.loads(capsys.readouterr().out)["results"]
    assert (first["policy"], second["policy"]) == ("own_agent:Agent", "cheapest")
    assert first["score"] == second["score"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["leaderboard", "nowhere"], "holds no run.json"),
        (["report", "nowhere"], "holds no run.json"),
        (["verify-run", "nowhere"], "holds no run.json"),
        (["replay", "nowhere.jsonl"], "No such file"),
        (["replay", "."], "is no trace"),
        (["eval", "--split", "train"], "say how many to play"),
        (["eval", "--episodes", "0"], "episodes must be from 1"),
        (["eval", "--workers", "0", "--scenario", SMALLEST, "--policy", "random"], "0 workers do no work"),
        (["eval", "--engine", "rya"], "engine must be one of local, ray"),
        (["eval", "--policy", "nowhere:Agent"], "there is no module 'nowhere'"),
        (["eval", "--policy", "red:nothing"], "no red-team policy 'nothing'"),
        (["eval", "--memory-tokens", "3"], "memory_tokens must be from 500"),
        (["eval", "--controller", "gpt"], "no model 'gpt'"),
    ],
)
def test_a_wrong_word_is_one_clear_line(arguments: list[str], expected: str, capsys: Out) -> None:
    assert run(arguments) in (1, 2)
    told = capsys.readouterr()
    assert told.out == "" and told.err.count("\n") == 1 and expected in told.err


def test_the_readme_table_is_written_by_the_command_and_is_of_this_suite(
    folder: Path, tmp_path: Path, capsys: Out
) -> None:
    page = tmp_path / "README.md"
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    page.write_text(text, encoding="utf-8")
    assert run(["leaderboard", str(folder), "--readme", str(page)]) == 0
    written = page.read_text(encoding="utf-8")
    assert f"{SMALLEST}" not in written and "1 scenarios, 2 episodes a policy." in written
    found = re.search(r"<!-- leaderboard: begin -->\n(.*?)\n<!-- leaderboard: end -->", text, flags=re.DOTALL)
    assert found is not None, "the README has no table yet; write it with: make readme"
    board = found[1]
    assert marked_block.replaced(written, "leaderboard", board, "README.md") == text
    assert f"validation: {scenario_store.size('validation')} scenarios, " in board
    assert {name.rstrip("*") for name in re.findall(r"^\| (?:= )?(\S+) \|", board, flags=re.MULTILINE)} - {
        "policy"
    } == set(policies.names())


def test_every_policy_can_be_compared_with_one_of_the_board(folder: Path, tmp_path: Path, capsys: Out) -> None:
    assert run(["leaderboard", str(folder), "--against", "cheapest", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    page = tmp_path / "page.md"
    page.write_text("<!-- leaderboard: begin -->\n<!-- leaderboard: end -->\n", encoding="utf-8")
    assert run(["leaderboard", str(folder), "--against", "cheapest", "--readme", str(page)]) == 0
    written = page.read_text(encoding="utf-8")
    assert [line for line in written.splitlines() if line.startswith("- ")] == [
        f"- {Comparison.model_validate(each)}" for each in told
    ]
    capsys.readouterr()
    assert told and {each["worse"] for each in told} == {"cheapest"}
    assert all(each["low"] <= each["sce_gain"] <= each["high"] for each in told)
    assert run(["leaderboard", str(folder), "--against", "chepest"]) == 1
    assert "did you mean 'cheapest'" in capsys.readouterr().err
