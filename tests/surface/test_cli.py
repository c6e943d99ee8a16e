"""`camre`: results on stdout, one line on stderr when something is wrong, and the same bytes every time."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from TokenOptEnv import policies, scenario_store
from TokenOptEnv.cli import seeds
from TokenOptEnv.cli.main import run
from TokenOptEnv.errors import BadInput
from TokenOptEnv.version import SCORING_VERSION, VERSION

SMALLEST = min(scenario_store.index().scenarios, key=lambda row: row.artifact_tokens).scenario_id
Out = pytest.CaptureFixture[str]


def _camre(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    code = "from TokenOptEnv.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_the_version_is_told(capsys: Out) -> None:
    assert run(["version"]) == 0
    assert capsys.readouterr().out == f"camre {VERSION} (scoring {SCORING_VERSION})\n"


def test_asking_for_the_version_loads_neither_the_engine_nor_a_tokeniser() -> None:
    code = (
        "import sys; from TokenOptEnv.cli.main import run; code = run(['version'])\n"
        "heavy = {'splintr', 'TokenOptEnv.local_env', 'TokenOptEnv.models'} & set(sys.modules)\n"
        "sys.exit(code or sorted(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


WRONG: dict[str, tuple[list[str], int, str]] = {
    "an unknown policy": (["eval", "--policy", "brute"], 1, "did you mean 'brute-force'?"),
    "an unknown scenario": (["eval", "--scenario", SMALLEST[:-2]], 1, f"did you mean {SMALLEST!r}?"),
    "an unknown scenario to show": (["scenarios", "show", "nothing"], 1, "no scenario 'nothing'"),
    "an unknown scenario to check": (["scenarios", "validate", "nothing"], 1, "no scenario 'nothing'"),
    "an unknown split": (["eval", "--split", "cora"], 1, "did you mean 'core'?"),
    "an unknown split to list": (["scenarios", "list", "--split", "cora"], 1, "did you mean 'core'?"),
    "an unknown catalog": (["catalog", "show", "measure"], 1, "did you mean 'measured'?"),
    "an unknown catalog to play": (["eval", "--catalog", "measure"], 1, "did you mean 'measured'?"),
    "an unknown profile": (["eval", "--profile", "v3"], 1, "profile must be one of v1, v2"),
    "an unknown track": (["eval", "--track", "x"], 1, "track must be one of controller, solver"),
    "seeds that are no numbers": (["eval", "--seeds", "a-b"], 1, "seeds are written like"),
    "seeds that go down": (["eval", "--seeds", "4-0"], 1, "seeds go upwards"),
    "too many seeds": (["eval", "--seeds", "0-99999"], 1, "at most 10000 seeds"),
    "a time of nothing": (["bench", "engine", "--seconds", "0"], 1, "seconds must be above 0"),
    "a time that is no number": (["bench", "engine", "--seconds", "x"], 2, "--seconds"),
    "an unknown option": (["eval", "--sead", "3"], 2, "No such option: --sead"),
    "an unknown command": (["evla"], 2, "No such command 'evla'"),
    "no command": ([], 2, "Missing command"),
    "half a command": (["scenarios"], 2, "Missing command"),
    "no scenario to show": (["scenarios", "show"], 2, "Missing argument"),
    "an argument too many": (["version", "now"], 2, "unexpected extra argument"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_word_is_one_clear_line_and_a_failure(what: str, capsys: Out) -> None:
    arguments, code, expected = WRONG[what]
    assert run(arguments) == code
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("camre: ") and told.err.count("\n") == 1 and told.err.endswith("\n")
    assert expected in told.err
    assert "Traceback" not in told.err


def test_a_wrong_word_fails_the_process_too() -> None:
    done = _camre("eval", "--policy", "brute")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "camre: no policy 'brute'; did you mean 'brute-force'? see: camre policies list"
    ]


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path, capsys: Out) -> None:
    (tmp_path / "file").write_text("in the way")
    assert run(["eval", "--seeds", "0", "--out", str(tmp_path / "file" / "run")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_reader_that_goes_away_is_no_stack_trace() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    code = "from TokenOptEnv.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "scenarios", "show", SMALLEST, "--json"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["policies", "list"],
        ["scenarios", "list"],
        ["scenarios", "show", SMALLEST, "--reveal"],
        ["catalog", "show"],
        ["eval", "--policy", "random", "--scenario", SMALLEST, "--seeds", "0"],
    ],
)
def test_pages_for_people_fit_80_columns_whole(arguments: list[str]) -> None:
    done = _camre(*arguments, COLUMNS="80")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert "…" not in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["version"],
        ["policies", "list"],
        ["scenarios", "list"],
        ["scenarios", "show", SMALLEST],
        ["catalog", "show", "current"],
        ["bench", "engine", "--seconds", "0.01"],
        ["eval", "--policy", "cheapest", "--scenario", SMALLEST, "--seeds", "0,2-3"],
    ],
)
def test_json_is_all_that_stands_on_stdout(arguments: list[str], capsys: Out) -> None:
    assert run([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


def test_every_policy_is_listed(capsys: Out) -> None:
    assert run(["policies", "list", "--json"]) == 0
    names = [row["name"] for row in json.loads(capsys.readouterr().out)]
    assert names == list(policies.names()) and {"cheapest", "expert", "reference"}.issubset(names)


def test_every_scenario_is_listed_with_its_whole_id(capsys: Out) -> None:
    assert run(["scenarios", "list"]) == 0
    shown = capsys.readouterr().out
    assert all(scenario_id in shown for scenario_id in scenario_store.ids())


def test_truth_is_shown_only_when_asked_for(capsys: Out) -> None:
    hidden = scenario_store.load(SMALLEST).hidden
    assert run(["scenarios", "show", SMALLEST, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["hidden"] is None
    assert hidden.facts[0].why not in json.dumps(plain)
    assert run(["scenarios", "show", SMALLEST, "--reveal", "--json"]) == 0
    revealed = json.loads(capsys.readouterr().out)["hidden"]
    assert [field["name"] for field in revealed["fields"]] == [field.name for field in hidden.fields]
    assert revealed["facts"][0]["why"] == hidden.facts[0].why


def test_an_evaluation_ends_with_a_leaderboard_and_leaves_its_traces(tmp_path: Path, capsys: Out) -> None:
    out = tmp_path / "run"
    chosen = ["--policy", "cheapest", "--policy", "reference", "--scenario", SMALLEST, "--seeds", "0-1"]
    assert run(["eval", *chosen, "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert shown.index("reference*") < shown.index("cheapest")
    assert len((out / "results.jsonl").read_text().splitlines()) == 4
    traces = sorted(str(path.relative_to(out / "traces")) for path in out.rglob("traces/*/*.jsonl"))
    assert traces == [f"{policy}/{SMALLEST}@{seed}.jsonl" for policy in ("cheapest", "reference") for seed in (0, 1)]


def test_the_same_evaluation_gives_the_same_bytes_in_any_process(tmp_path: Path) -> None:
    shown = []
    for hash_seed in ("0", "1", "4242"):
        out = tmp_path / hash_seed
        done = _camre(
            "eval", "--scenario", SMALLEST, "--seeds", "0-1", "--out", str(out), "--json", PYTHONHASHSEED=hash_seed
        )
        assert done.returncode == 0, done.stderr
        files = {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*.jsonl"))}
        assert len(files) == 1 + 2 * len(policies.names())
        shown.append((done.stdout, files))
    assert shown[0] == shown[1] == shown[2]


def test_validation_fails_when_any_fault_is_an_error(monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    sound = scenario_store.load(SMALLEST)
    broken = type(sound)(sound.public.model_copy(update={"cache_entries": ()}), sound.hidden)
    monkeypatch.setattr(scenario_store, "load", lambda scenario_id: broken)
    assert run(["scenarios", "validate", SMALLEST]) == 1
    *faults, count = capsys.readouterr().out.splitlines()
    assert f"{SMALLEST}: cache: has no valid entry; add one of this version" in faults
    assert count == f"1 scenarios, {len(faults)} errors, 0 warnings"
    assert run(["scenarios", "validate", SMALLEST, "--json"]) == 1
    assert {fault["place"] for fault in json.loads(capsys.readouterr().out)} == {"cache"}


def test_building_writes_a_suite_that_can_be_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    scenario = scenario_store.load(SMALLEST)
    monkeypatch.setattr(scenario_store, "designed", lambda: {SMALLEST: scenario})
    assert run(["scenarios", "build", "--folder", str(tmp_path / "suite")]) == 0
    made = scenario_store.Index.model_validate_json((tmp_path / "suite" / "index.json").read_bytes())
    assert [(row.scenario_id, row.content_hash) for row in made.scenarios] == [(SMALLEST, scenario.content_hash)]
    (plans,) = json.loads(gzip.decompress((tmp_path / "suite" / "plans.json.gz").read_bytes()))["plans"]
    assert [world["reference"]["world_index"] for world in plans["worlds"]] == [0, 1, 2, 3]


def test_building_does_not_replace_files_that_are_no_suite(tmp_path: Path, capsys: Out) -> None:
    (tmp_path / "mine.json.gz").write_bytes(b"precious")
    assert run(["scenarios", "build", "--folder", str(tmp_path)]) == 1
    assert "that are no suite" in capsys.readouterr().err
    assert (tmp_path / "mine.json.gz").read_bytes() == b"precious"


def test_seeds_are_read_as_they_are_typed() -> None:
    assert seeds.parse("7") == (7,)
    assert seeds.parse("0-4") == (0, 1, 2, 3, 4)
    assert seeds.parse("0, 2,5-7,2") == (0, 2, 5, 6, 7)


@pytest.mark.parametrize("text", ["", "-1", "1-", "a", "0-4-8", "1,,2", "1.5", "²"])
def test_anything_else_is_no_seed(text: str) -> None:
    with pytest.raises(BadInput):
        seeds.parse(text)
