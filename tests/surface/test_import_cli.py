"""`camre scenarios import` and `new`: from a log to a price, as the tutorial tells it, and one line where it fails."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.surface import documented
from TokenOptEnv import LocalEnv, scenario_store
from TokenOptEnv.cli.main import run
from TokenOptEnv.errors import ScenarioInvalid, UnknownName
from TokenOptEnv.scenario.whole import public_hash

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "import.md").read_text(encoding="utf-8")
_AS_HERE = ("-q", "--import-mode=importlib")
CASE = "imported-medium-checkout-outage"
Out = pytest.CaptureFixture[str]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with nothing imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CAMRE_SCENARIOS_DIR", raising=False)
    scenario_store.load.cache_clear()
    return tmp_path


def begun(*edits: tuple[str, str]) -> None:
    assert run(["scenarios", "new", "case", "checkout-outage"]) == 0
    spec = Path("checkout-outage/import.toml")
    for old, new in edits:
        text = spec.read_text()
        assert old in text
        spec.write_text(text.replace(old, new, 1))


def committed(folder: Path, commits: int) -> None:
    who = {f"GIT_{role}_{what}": "x" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for number in range(commits):
        lines = "".join(f"def step_{number}_{line}(value):\n    return value * {line}\n\n\n" for line in range(12))
        (folder / f"part{number % 3}.py").write_text(f"LIMIT = {number}\n\n\n{lines}")
        for command in (["init", "-q"], ["add", f"part{number % 3}.py"], ["commit", "-q", "-m", f"Change {number}"]):
            subprocess.run(["git", "-C", str(folder), *command], check=True, env={**os.environ, **who})


def test_every_command_of_the_tutorial_works_in_its_order(desk: Path, capsys: Out) -> None:
    committed(desk, 6)
    (desk / "TokenOptEnv" / "task_defs").mkdir(parents=True)
    (questions,) = blocks("json")
    (desk / "questions.jsonl").write_text(questions)
    commands = [line for block in blocks("console") for line in block.splitlines()]
    assert len(commands) > 10 and all(line.startswith("camre ") for line in commands)
    for line in commands:
        assert run(shlex.split(line)[1:]) == 0, (line, capsys.readouterr().err)
        assert capsys.readouterr().out.strip(), line
    assert {row.scenario_id for row in scenario_store.rows("imported")} >= {CASE, "imported-medium-night"}
    _check_the_claim(capsys)
    _check_the_table()


def _check_the_table() -> None:
    """The page shows what the run above shows. With CAMRE_WRITE_TABLES=1 it is written anew."""
    copy = Path("page.md")
    copy.write_text(PAGE, encoding="utf-8")
    assert run(["leaderboard", "runs/checkout", "--readme", str(copy)]) == 0
    made = copy.read_text(encoding="utf-8")
    if os.environ.get("CAMRE_WRITE_TABLES") == "1":
        (ROOT / "docs" / "import.md").write_text(made, encoding="utf-8")
        return
    assert made == PAGE, "the table is stale; write it: CAMRE_WRITE_TABLES=1 pytest tests/surface/test_import_cli.py"


def _check_the_claim(capsys: Out) -> None:
    """What the tutorial says of its table: a mid-tier model solves it for far less than the strongest."""
    assert run(["leaderboard", "runs/checkout", "--json"]) == 0
    ranking = {row["policy"]: row for row in json.loads(capsys.readouterr().out)["ranking"]}
    rag, strongest = ranking["rag"], ranking["strongest-only"]
    assert rag["solved"] == strongest["solved"] == 4
    assert rag["measures"]["usd_per_solved"]["value"] < strongest["measures"]["usd_per_solved"]["value"] / 2


def test_the_spec_that_the_tutorial_shows_is_the_one_that_is_written(desk: Path) -> None:
    begun()
    written = Path("checkout-outage/import.toml").read_text()
    (shown,) = blocks("toml")
    for part in shown.strip().split("\n\n"):
        assert part in written


def test_the_line_that_the_tutorial_shows_for_a_bad_quote_is_told(desk: Path, capsys: Out) -> None:
    begun(("pool exhausted: 20 of 20 connections in use", "pool exausted: 20 of 20"))
    capsys.readouterr()
    assert run(["scenarios", "import", "checkout-outage/import.toml"]) == 1
    assert blocks("text") == [capsys.readouterr().err]


def test_evidence_that_cannot_be_used_is_one_line(desk: Path, capsys: Out) -> None:
    begun()
    (desk / "empty").mkdir()
    (desk / "core.bin").write_bytes(b"\x7fELF\0\0\0\0" * 40)
    (desk / "old.log").write_bytes(b"fine\n\x81\x8d\x8f\n")
    (desk / "cut.gz").write_bytes(gzip.compress(b"text\n" * 999)[:30])
    capsys.readouterr()
    for place, expected in {
        "empty": "holds no file to import",
        "core.bin": "core.bin: is binary",
        "old.log": "old.log:2: is neither UTF-8 nor Windows-1252",
        "cut.gz": "cut.gz: cannot be unpacked",
        "nowhere": "there is no file or folder",
    }.items():
        assert run(["scenarios", "import", "checkout-outage/import.toml", "--logs", place]) == 1
        told = capsys.readouterr()
        assert told.out == "" and told.err.count("\n") == 1 and expected in told.err, told.err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "nothing to import; give a spec"),
        (["missing.toml"], "missing.toml: cannot be read"),
        (["app.log"], "is no spec: it ends on .toml"),
        (["checkout-outage/import.toml", "--keep", "ips"], "did you mean 'ip'?"),
        (["checkout-outage/import.toml", "--max-tokens", "9"], "keeps 1000 to 250000 tokens"),
        (["checkout-outage/import.toml", "--encoding", "none"], "there is no encoding 'none'"),
        (["checkout-outage/import.toml", "--folder", "checkout-outage/import.toml"], "is no folder"),
        (["checkout-outage/import.toml", "--git", "."], "a repository goes into the spec"),
        (["--git", "."], "which commit is bad?"),
        (["--logs", "checkout-outage/logs", "--ask", "Why?"], "a question needs --answer, and --quote"),
        (["checkout-outage/import.toml", "--ask", "Why?"], "questions go into the spec"),
        (["--git", ".", "--bad", "HEAD"], "git cannot read"),
    ],
)
def test_a_wrong_word_is_one_line(desk: Path, capsys: Out, arguments: list[str], expected: str) -> None:
    begun()
    capsys.readouterr()
    assert run(["scenarios", "import", "--no-plans", *arguments]) == 1
    told = capsys.readouterr()
    assert expected in told.err and told.err.count("\n") == 1, told.err


def test_a_fault_that_a_check_finds_stops_the_import_and_names_its_line(desk: Path, capsys: Out) -> None:
    begun(("Find out why", "It is the connection_pool. Find out why"))
    capsys.readouterr()
    assert run(["scenarios", "import", "checkout-outage/import.toml"]) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("import.toml:4: brief: says the answer to cause")
    assert told[-1] == "1 faults; nothing is written"
    assert not Path("camre-scenarios").exists()
    assert run(["scenarios", "validate", "checkout-outage/import.toml"]) == 1
    assert capsys.readouterr().out.splitlines()[0] == told[0]


def test_the_report_is_told_to_machines_and_a_dry_run_writes_nothing(desk: Path, capsys: Out) -> None:
    begun()
    capsys.readouterr()
    assert run(["scenarios", "import", "checkout-outage/import.toml", "--dry-run", "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert report["scenario_id"] == CASE and report["masked"] == {"ip": 320}
    assert sum(source["kept_tokens"] for source in report["sources"]) == report["artifact_tokens"]
    assert [source["name"] for source in report["sources"]] == ["gateway.log", "orders.log", "orders.toml"]
    assert not Path("camre-scenarios").exists()


def test_an_imported_case_is_played_from_where_it_was_kept(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    begun()
    capsys.readouterr()
    assert run(["scenarios", "list", "--split", "imported"]) == 1
    assert "nothing is imported in CAMRE_SCENARIOS_DIR, or here" in capsys.readouterr().err
    assert run(["scenarios", "import", "checkout-outage/import.toml", "--folder", "kept", "--no-plans"]) == 0
    assert "export CAMRE_SCENARIOS_DIR=kept" in capsys.readouterr().out
    with pytest.raises(UnknownName, match="CAMRE_SCENARIOS_DIR"):
        LocalEnv().reset(CASE)
    monkeypatch.setenv("CAMRE_SCENARIOS_DIR", "kept")
    assert LocalEnv().reset(split="imported", index=0).task.scenario_id == CASE
    assert run(["scenarios", "validate", f"kept/{CASE}.json.gz"]) == 0
    Path("kept", f"{CASE}.json.gz").write_bytes(b"damaged")
    scenario_store.load.cache_clear()
    with pytest.raises(ScenarioInvalid, match="is not what its index says; import it again"):
        scenario_store.load(CASE)
    assert run(["scenarios", "import", "checkout-outage/import.toml", "--folder", "kept", "--no-plans"]) == 0
    assert scenario_store.load(CASE).scenario_id == CASE
    assert scenario_store.size("imported") == 1


def test_an_import_of_another_size_replaces_the_earlier_one_of_its_slug(desk: Path) -> None:
    begun()
    for tokens in ("250000", "8000"):
        arguments = ["checkout-outage/import.toml", "--no-plans", "--max-tokens", tokens]
        assert run(["scenarios", "import", *arguments]) == 0
    assert scenario_store.ids("imported") == ("imported-easy-checkout-outage",)
    assert sorted(file.name for file in Path("camre-scenarios").iterdir()) == [
        "imported-easy-checkout-outage.json.gz",
        "index.json",
    ]


def test_a_run_goes_on_only_with_the_case_it_was_begun_with(desk: Path, capsys: Out) -> None:
    """The truth of the case changes, and nothing that an agent is shown: the same id, the same public half."""
    begun()
    evaluate = ["eval", "--scenario", CASE, "--policy", "cheapest", "--seeds", "0", "--workers", "1", "--out"]
    assert run(["scenarios", "import", "checkout-outage/import.toml", "--no-plans"]) == 0
    assert run([*evaluate, "first"]) == 0
    assert run(["scenarios", "import", "checkout-outage/import.toml", "--no-plans"]) == 0
    assert run([*evaluate, "first"]) == 0, "imported again as it was, it is the same case"
    shown = public_hash(scenario_store.load(CASE).public)
    spec = Path("checkout-outage/import.toml")
    spec.write_text(spec.read_text().replace('answer = "req-7f3a"', 'answer = ["req-7f3a", "7f3a"]', 1))
    assert run(["scenarios", "import", str(spec), "--no-plans"]) == 0
    assert public_hash(scenario_store.load(CASE).public) == shown
    capsys.readouterr()
    assert run([*evaluate, "first"]) == 1
    told = capsys.readouterr().err
    assert re.fullmatch(
        rf"camre: 'first' holds another run: the content of {CASE} is [0-9a-f]{{16}}, and not [0-9a-f]{{16}};"
        r" choose another folder, or begin anew with --fresh\n",
        told,
    ), told
    assert run([*evaluate, "second"]) == 0
    capsys.readouterr()
    assert run(["leaderboard", "first", "second"]) == 1
    assert f"cannot stand on one board: the content of {CASE} " in capsys.readouterr().err
    assert run([*evaluate, "first", "--fresh"]) == 0


def test_a_field_of_a_scenario_file_that_is_wrong_is_named(desk: Path, capsys: Out) -> None:
    begun()
    assert run(["scenarios", "import", "checkout-outage/import.toml", "--no-plans"]) == 0
    file = Path("camre-scenarios", f"{CASE}.json.gz")
    data = json.loads(gzip.decompress(file.read_bytes()))
    data["public"]["artifacts"][1]["kind"] = "lgo"
    file.write_bytes(gzip.compress(json.dumps(data).encode()))
    capsys.readouterr()
    assert run(["scenarios", "validate", str(file)]) == 1
    assert f"'{CASE}.json.gz' cannot be read: public.artifacts.1.kind: Input should be" in capsys.readouterr().err


def test_a_beginning_overwrites_nothing(desk: Path, capsys: Out) -> None:
    begun()
    capsys.readouterr()
    assert run(["scenarios", "new", "case", "checkout-outage"]) == 1
    assert "is there already" in capsys.readouterr().err
    assert run(["scenarios", "new", "case", "Checkout"]) == 1
    assert "lower case" in capsys.readouterr().err
    assert run(["scenarios", "new", "family", "my-family", "--folder", "."]) == 1
    assert "one word" in capsys.readouterr().err
    assert run(["scenarios", "new", "family", "storage", "--folder", "."]) == 1
    assert "is no checkout of TokenOptEnv" in capsys.readouterr().err


def _typed(command: str, checkout: Path) -> str:
    """As a reader types it there; a package of the same name elsewhere on the path must not be taken instead."""
    program, *words = shlex.split(command)
    ours = {"camre": ["-c", "from TokenOptEnv.cli.main import main; main()"], "pytest": ["-m", "pytest", *_AS_HERE]}
    done = subprocess.run(
        [sys.executable, *ours[program], *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(checkout)},
    )
    assert done.returncode == 0, (command, done.stdout + done.stderr)
    return done.stdout


def test_a_new_family_passes_its_own_test_as_it_is(desk: Path) -> None:
    """In a checkout of links to this one, so that nothing is written here."""
    package, task_defs = desk / "TokenOptEnv", desk / "TokenOptEnv" / "task_defs"
    task_defs.mkdir(parents=True)
    for source, target in ((ROOT / "TokenOptEnv", package), (ROOT / "TokenOptEnv" / "task_defs", task_defs)):
        for entry in source.iterdir():
            if entry.name not in ("task_defs", "__pycache__"):
                (target / entry.name).symlink_to(entry)
    told = [_typed(command, desk) for command in documented.typed_by(__file__)]
    assert "2 passed" in told[1]
    assert "1 scenarios, 0 errors, 0 warnings" in told[2]
    assert len(told) == 4
    for file in ("TokenOptEnv/task_defs/storage/__init__.py", "tests/core/test_storage_family.py"):
        for command in (["check"], ["format", "--check"]):
            subprocess.run(
                [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(ROOT / file), "-"],
                input=(desk / file).read_bytes(),
                check=True,
                capture_output=True,
                cwd=ROOT,
            )
