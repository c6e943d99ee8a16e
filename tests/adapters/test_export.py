"""`camre export`: a run as a dataset that its users' own library loads, and that teaches nothing it must not."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
from datasets import Dataset, DatasetDict, load_dataset
from pyarrow import parquet

from tests.adapters.played import FIRST, run_example, spoken
from tests.surface import documented
from TokenOptEnv import scenario_store
from TokenOptEnv.adapters import hf_dataset
from TokenOptEnv.adapters.hf_dataset import Row
from TokenOptEnv.cli.main import run
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation import runner, suite
from TokenOptEnv.evaluation.run_folder import RunFolder, load_run
from TokenOptEnv.evaluation.suite import RunOptions

Out = pytest.CaptureFixture[str]
pytestmark = pytest.mark.filterwarnings("default::ResourceWarning", "default::DeprecationWarning")


def _run(folder: Path, policies: Sequence[str], scenario_ids: Sequence[str]) -> Path:
    spec = suite.run_spec(policies, suite.CHOSEN, scenario_ids, [0], RunOptions())
    with RunFolder.opened(folder, spec) as opened:
        list(runner.play(spec, opened, 1))
    return folder


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _run(tmp_path_factory.mktemp("run"), ["cheapest", "random", "reference"], scenario_store.ids("core")[:2])


@pytest.fixture(scope="module")
def exported(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "rows"
    assert run(["export", str(played), "--out", str(folder), "--least-return", "-1"]) == 0
    return folder


@pytest.fixture(scope="module")
def loaded(exported: Path, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    found = load_dataset(str(exported), cache_dir=str(tmp_path_factory.mktemp("cache")))
    assert isinstance(found, DatasetDict)
    assert list(found) == ["train"]
    return found["train"]


def test_a_row_is_the_prompt_of_a_step_and_what_was_said(loaded: Dataset) -> None:
    expected = spoken("cheapest", FIRST)
    rows = [row for row in loaded if (row["policy"], row["scenario_id"]) == ("cheapest", FIRST)]
    assert [row["prompt"] for row in rows] == list(expected.prompts)
    assert [row["completion"] for row in rows] == list(expected.replies)
    assert [row["step"] for row in rows] == list(range(1, len(rows) + 1))
    assert sum(row["reward"] for row in rows) == pytest.approx(expected.score.total_return)
    assert {row["total_return"] for row in rows} == {expected.score.total_return}


def test_the_columns_are_those_of_the_card(loaded: Dataset, exported: Path) -> None:
    card = (exported / "README.md").read_text(encoding="utf-8")
    assert loaded.column_names == list(Row.model_fields)
    assert all(f"| {name} | " in card for name in loaded.column_names)
    assert f"- {loaded.num_rows} steps of 4 episodes" in card


def test_whoever_knows_the_truth_teaches_nobody(loaded: Dataset) -> None:
    assert set(loaded["policy"]) == {"cheapest", "random"}


def test_the_same_run_gives_the_same_bytes(played: Path, exported: Path, tmp_path: Path) -> None:
    assert run(["export", str(played), "--out", str(tmp_path / "again"), "--least-return", "-1"]) == 0
    for file in ("README.md", "data/train-00000-of-00001.parquet"):
        assert (tmp_path / "again" / file).read_bytes() == (exported / file).read_bytes()


def test_a_long_run_is_written_in_groups_of_rows(
    played: Path, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = "data/train-00000-of-00001.parquet"
    whole = parquet.ParquetFile(exported / file)
    assert whole.num_row_groups == 1
    monkeypatch.setattr(hf_dataset, "_ROWS_A_GROUP", 5)
    assert run(["export", str(played), "--out", str(tmp_path / "rows"), "--least-return", "-1"]) == 0
    parts = parquet.ParquetFile(tmp_path / "rows" / file)
    assert parts.num_row_groups == -(-parts.metadata.num_rows // 5) > 1
    assert parts.read().equals(whole.read())


def test_one_policy_and_the_better_episodes_can_be_chosen(played: Path, tmp_path: Path, capsys: Out) -> None:
    assert (
        run(["export", str(played), "--out", str(tmp_path / "x"), "--policy", "cheapest", "--least-return", "2"]) == 1
    )
    assert "has a return of 2; lower --least-return" in capsys.readouterr().err
    chosen = ["--policy", "cheapest", "--least-return", "-1", "--json"]
    assert run(["export", str(played), "--out", str(tmp_path / "x"), *chosen]) == 0
    assert '"episodes": 2' in capsys.readouterr().out


def test_episodes_of_validation_are_a_split_of_their_own(tmp_path: Path) -> None:
    folder = _run(tmp_path / "run", ["cheapest"], [FIRST, scenario_store.at("validation", 0)])
    assert run(["export", str(folder), "--out", str(tmp_path / "rows"), "--least-return", "-1"]) == 0
    found = load_dataset(str(tmp_path / "rows"), cache_dir=str(tmp_path / "cache"))
    assert {name: set(rows["split"]) for name, rows in found.items()} == {
        "train": {"core"},
        "validation": {"validation"},
    }


def test_what_must_not_be_exported_is_one_clear_line(played: Path, exported: Path, tmp_path: Path, capsys: Out) -> None:
    test = _run(tmp_path / "test", ["cheapest"], [scenario_store.at("test", 0)])
    out = ["--out", str(tmp_path / "rows"), "--least-return", "-1"]
    for arguments, expected in (
        ([str(test), *out], "episodes of the test split, which nobody trains on"),
        ([str(played), *out, "--policy", "reference"], "policy 'reference' knows the truth"),
        ([str(played), *out, "--policy", "cheepest"], "did you mean 'cheapest'?"),
        ([str(played), "--out", str(exported), "--least-return", "-1"], "is not empty; choose a new folder"),
        ([str(tmp_path), *out], "holds no run.json"),
    ):
        assert run(["export", *arguments]) == 1
        told = capsys.readouterr()
        assert expected in told.err
        assert told.err.count("\n") == 1
    assert not (tmp_path / "rows").exists()


def test_a_trace_that_was_changed_stops_the_export(tmp_path: Path, capsys: Out) -> None:
    folder = _run(tmp_path / "run", ["cheapest"], [FIRST])
    (file,) = (folder / "traces").rglob("*.jsonl")
    file.write_text(file.read_text(encoding="utf-8").replace('"reward":0.0125', '"reward":0.5', 1), encoding="utf-8")
    assert run(["export", str(folder), "--out", str(tmp_path / "rows"), "--least-return", "-1"]) == 1
    assert "is not what this engine plays: step" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["run"], "nothing is left half-written"


def test_a_score_that_does_not_follow_from_its_trace_stops_the_export(tmp_path: Path) -> None:
    found = load_run(_run(tmp_path / "run", ["cheapest"], [FIRST]))
    (result,) = found.results
    better = result.model_copy(update={"score": result.score.model_copy(update={"total_return": 0.9})})
    chosen = hf_dataset.select(found.model_copy(update={"results": (better,)}), (), 0.25)
    with pytest.raises(BadInput, match="does not follow from it"):
        hf_dataset.write(chosen.episodes(), chosen, tmp_path / "rows")


def test_a_run_of_those_who_know_the_truth_alone_teaches_nothing(tmp_path: Path, capsys: Out) -> None:
    folder = _run(tmp_path / "run", ["reference"], [FIRST])
    assert run(["export", str(folder), "--out", str(tmp_path / "rows")]) == 1
    assert "only policies that know the truth played" in capsys.readouterr().err


def test_the_commands_of_the_page_work_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CAMRE_CACHE_DIR", str(tmp_path / "cache"))
    plays, exports = documented.typed_by(__file__)
    assert run([*shlex.split(plays.replace("--episodes 200", "--episodes 2"))[1:], "--workers", "1"]) == 0
    assert run(shlex.split(exports)[1:]) == 0, capsys.readouterr().err
    (file,) = Path("runs/rows/data").glob("*.parquet")
    assert parquet.ParquetFile(file).metadata.num_rows > 0


def test_the_example_runs(tmp_path: Path) -> None:
    told = run_example("export_and_load.py", str(tmp_path), HF_HOME=str(tmp_path / "hub"))
    assert "rows; one says: " in told.splitlines()[-1]
