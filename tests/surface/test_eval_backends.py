"""`camre eval --backend`: real models answer a run, and its folder can do without them from then on."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases import TOY
from tests.core.live_cases import SECRET, right
from tests.core.live_server import Body, LiveServer, Step, said, serving
from tests.surface import documented
from TokenOptEnv.backends.live_settings import KEY
from TokenOptEnv.backends.recording import read
from TokenOptEnv.cli.main import run

Out = pytest.CaptureFixture[str]
PAIR = ("--policy", "cheapest", "--policy", "rag", "--scenario", TOY, "--seeds", "0-1")
EPISODES = 4

pytestmark = pytest.mark.usefixtures("store")


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, SECRET)
    monkeypatch.delenv("CAMRE_LIVE_RECORD", raising=False)


@pytest.fixture
def server() -> Iterator[LiveServer]:
    with serving(right) as started:
        yield started


def played_live(server: LiveServer, out: Path, *more: str) -> int:
    return run(["eval", *PAIR, "--backend", f"live:{server.url}", "--out", str(out), *more])


def texts(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def copied(folder: Path, target: Path) -> Path:
    shutil.copytree(folder, target)
    return target


def test_a_live_run_states_its_backend_records_and_is_verified_without_the_server(tmp_path: Path, capsys: Out) -> None:
    folder = tmp_path / "live"
    with serving(right) as server:
        assert played_live(server, folder, "--served-as", "my-model", "--cap-usd", "0.5") == 0
        assert server.asked and {asked.body["model"] for asked in server.asked} == {"my-model"}
    shown = " ".join(capsys.readouterr().out.split())
    assert "chosen (live models): 1 scenarios" in shown and f"Answered by: live {server.url} as my-model" in shown
    paid = read(folder / "answers.jsonl").spent_nano_usd
    assert paid > 0 and f"paid to real models: ${paid / 1e9:.4f}, of at most $0.50" in shown
    assert json.loads((folder / "run.json").read_text())["backend"] == {
        "kind": "live",
        "address": server.url,
        "served_as": {"*": "my-model"},
        "reply_tokens": 600,
        "reasoning_room": 4,
        "recording_sha256": None,
    }
    assert run(["verify-run", str(folder), "--workers", "1"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"{EPISODES} episodes, 0 faults" in told and "that the models gave them is not proven" in told


def test_every_command_of_the_page_works_in_its_order(
    server: LiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    """The live ones ask a server of this test; those on a recording ask nobody."""
    monkeypatch.chdir(tmp_path)
    commands = documented.typed_by(__file__)
    assert len(commands) == 4
    for command in commands:
        words = shlex.split(command.replace("http://127.0.0.1:8000/v1", server.url))[1:]
        before = len(server.asked)
        assert run([*words, "--scenario", TOY]) == 0, (command, capsys.readouterr().err)
        assert capsys.readouterr().out.strip(), command
        assert (len(server.asked) > before) == ("live:" in command)
    assert {asked.body["model"] for asked in server.asked} <= {"my-mini", "my-small"}


def test_neither_the_key_nor_a_prompt_stands_in_a_run(server: LiveServer, tmp_path: Path, capsys: Out) -> None:
    assert played_live(server, tmp_path / "live") == 0
    assert server.asked[0].headers["Authorization"] == f"Bearer {SECRET}"
    kept = b"".join(texts(tmp_path / "live").values()).decode()
    shown = capsys.readouterr()
    assert SECRET not in kept + shown.out + shown.err
    assert "You answer one question" not in kept and "Checkout fails" not in kept


def test_a_run_on_its_recording_leaves_the_same_results_and_traces(
    server: LiveServer, tmp_path: Path, capsys: Out
) -> None:
    live, again = tmp_path / "live", tmp_path / "again"
    assert played_live(server, live) == 0
    asked = len(server.asked)
    for workers in ("1", "2"):
        backend = ["--backend", f"recorded:{live / 'answers.jsonl'}", "--workers", workers]
        assert run(["eval", *PAIR, *backend, "--out", str(again / workers)]) == 0
        theirs, ours = texts(again / workers), texts(live)
        assert {name: text for name, text in theirs.items() if name != "run.json"} == {
            name: text for name, text in ours.items() if name != "run.json"
        }
        assert run(["verify-run", str(again / workers), "--workers", "1"]) == 0
    assert len(server.asked) == asked
    assert "chosen (recorded models)" in capsys.readouterr().out


def test_a_live_run_that_is_cut_short_goes_on_and_pays_for_nothing_twice(tmp_path: Path, capsys: Out) -> None:
    """The server ends in the middle of an episode; a second server must be asked only what the first was not."""
    folder, whole = tmp_path / "cut", tmp_path / "whole"
    with serving(right) as server:
        assert played_live(server, whole, "--workers", "1") == 0
        every = [asked.prompt for asked in server.asked]
        first = len(every) // 2
        answered = 0

        def usual(body: Body) -> Step:
            nonlocal answered
            answered += 1
            return Step(status=401) if answered == first + 1 else right(body)

        server._usual = usual
        server.asked.clear()
        assert played_live(server, folder, "--workers", "1") == 1
        told = capsys.readouterr().err
        assert told.count("\n") == 1 and "401" in told and SECRET not in told
        assert len(read(folder / "answers.jsonl").answers) == first
        assert run(["leaderboard", str(folder)]) in (0, 1)
        assert played_live(server, folder, "--workers", "1") == 0
        paid = [asked.prompt for asked in server.asked]
    assert sorted(paid) == sorted([*every, every[first]])
    without = {"answers.jsonl"}
    ours, theirs = texts(folder), texts(whole)
    assert {n: t for n, t in ours.items() if n not in without} == {n: t for n, t in theirs.items() if n not in without}
    assert run(["verify-run", str(folder), "--workers", "1"]) == 0


def test_episodes_under_way_at_once_leave_the_results_of_one_after_the_other(
    server: LiveServer, tmp_path: Path
) -> None:
    assert played_live(server, tmp_path / "one", "--workers", "1") == 0
    assert played_live(server, tmp_path / "four", "--workers", "4") == 0
    ours, theirs = texts(tmp_path / "one"), texts(tmp_path / "four")
    assert ours.pop("answers.jsonl") and theirs.pop("answers.jsonl")
    assert ours == theirs


def test_a_run_that_reaches_its_cap_ends_in_one_line_and_goes_on_with_a_larger_one(tmp_path: Path, capsys: Out) -> None:
    dear = [*PAIR, "--policy", "strongest-only", "--out", str(tmp_path / "run")]
    with serving(lambda body: right(body, completion_tokens=1_500)) as server:
        line = ["eval", *dear, "--backend", f"live:{server.url}"]
        assert run([*line, "--cap-usd", "0.01"]) == 1
        shown = capsys.readouterr()
        assert shown.out == "" and shown.err.count("\n") == 1 and "is left of the cap of $0.010000" in shown.err
        asked = len(server.asked)
        tally = read(tmp_path / "run" / "answers.jsonl")
        assert 0 < asked == len(tally.answers) and tally.spent_nano_usd <= 10_000_000
        assert run([*line, "--cap-usd", "0.9"]) == 0
        assert len(server.asked) == len(read(tmp_path / "run" / "answers.jsonl").answers)


def test_a_report_and_a_replay_need_no_server(tmp_path: Path, capsys: Out) -> None:
    folder = tmp_path / "live"
    with serving(right) as server:
        assert played_live(server, folder) == 0
    assert run(["report", str(folder), "--workers", "1"]) == 0
    assert (folder / "report.html").is_file()
    trace = folder / "traces" / "cheapest" / f"{TOY}@0.jsonl"
    assert run(["replay", str(trace), "--delay", "0", "--no-color"]) == 0
    assert "Return" in capsys.readouterr().out
    alone = tmp_path / "alone.jsonl"
    alone.write_bytes(trace.read_bytes())
    assert run(["replay", str(alone), "--delay", "0", "--no-color"]) == 1
    assert "name their recording with --recording" in capsys.readouterr().err
    recording = ["--recording", str(folder / "answers.jsonl")]
    assert run(["replay", str(alone), "--delay", "0", "--no-color", *recording]) == 0


def test_a_changed_answer_and_a_missing_recording_are_named(server: LiveServer, tmp_path: Path, capsys: Out) -> None:
    assert played_live(server, tmp_path / "live") == 0
    altered = copied(tmp_path / "live", tmp_path / "altered") / "answers.jsonl"
    altered.write_text(altered.read_text().replace('"confidence":0.8', '"confidence":0.9'))
    gone = copied(tmp_path / "live", tmp_path / "gone")
    (gone / "answers.jsonl").unlink()
    capsys.readouterr()
    assert run(["verify-run", str(tmp_path / "altered"), "--workers", "1", "--json"]) == 1
    faults = json.loads(capsys.readouterr().out)
    assert len(faults) == EPISODES and all("the trace was tampered with" in fault["cause"] for fault in faults)
    assert run(["verify-run", str(gone), "--workers", "1", "--json"]) == 1
    (fault,) = json.loads(capsys.readouterr().out)
    assert fault["place"] == "answers.jsonl" and "there is no recording" in fault["cause"]
    backend = ["--backend", f"recorded:{tmp_path / 'live' / 'answers.jsonl'}"]
    assert run(["eval", *PAIR, *backend, "--out", str(tmp_path / "recorded")]) == 0
    (tmp_path / "recorded" / "answers.jsonl").write_bytes(altered.read_bytes())
    capsys.readouterr()
    assert run(["verify-run", str(tmp_path / "recorded"), "--workers", "1", "--json"]) == 1
    (fault,) = json.loads(capsys.readouterr().out)
    assert "and the run was played on" in fault["cause"]


def test_a_live_run_stands_beside_a_simulated_one_only_under_its_label(
    server: LiveServer, tmp_path: Path, capsys: Out
) -> None:
    assert played_live(server, tmp_path / "live") == 0
    assert run(["eval", *PAIR, "--policy", "random", "--out", str(tmp_path / "simulated")]) == 0
    capsys.readouterr()
    both = [str(tmp_path / "simulated"), str(tmp_path / "live")]
    assert run(["leaderboard", *both, "--json"]) == 0
    board = json.loads(capsys.readouterr().out)
    assert {row["policy"] for row in board["ranking"]} == {
        "random (simulated)",
        "cheapest (simulated, simulated)",
        "rag (simulated, simulated)",
        "cheapest (live, live)",
        "rag (live, live)",
    }
    assert board["title"].startswith("chosen (simulated and live models)")
    assert [each["kind"] for each in board["answered_by"]] == ["simulated", "live"]
    assert run(["leaderboard", *both, "--markdown"]) == 0
    assert "a rank is not the policy's doing alone" in capsys.readouterr().out
    assert run(["leaderboard", both[0]]) == 0
    assert "Answered by" not in capsys.readouterr().out


def test_what_was_paid_for_is_never_thrown_away(server: LiveServer, tmp_path: Path, capsys: Out) -> None:
    folder = tmp_path / "run"
    assert played_live(server, folder) == 0
    asked, answers = len(server.asked), (folder / "answers.jsonl").read_bytes()
    assert played_live(server, folder, "--fresh") == 0
    assert len(server.asked) == asked
    for other in (["--backend", "simulated"], ["--backend", f"live:{server.url}", "--served-as", "another"]):
        assert run(["eval", *PAIR, *other, "--out", str(folder)]) == 1
        assert "holds another run: backend is live" in capsys.readouterr().err
        assert run(["eval", *PAIR, *other, "--out", str(folder), "--fresh"]) == 1
        assert "is not thrown away" in capsys.readouterr().err
    assert (folder / "answers.jsonl").read_bytes() == answers
    copy = tmp_path / "copy"
    assert run(["eval", *PAIR, "--backend", f"recorded:{folder / 'answers.jsonl'}", "--out", str(copy)]) == 0
    own = ["--backend", f"recorded:{copy / 'answers.jsonl'}", "--out", str(copy), "--fresh"]
    assert run(["eval", *PAIR, *own]) == 0 and (copy / "answers.jsonl").read_bytes() == answers
    assert run(["eval", *PAIR, "--out", str(copy), "--fresh"]) == 0
    assert not (copy / "answers.jsonl").exists()


def test_a_question_that_is_not_in_the_recording_ends_the_run_in_one_line(
    server: LiveServer, tmp_path: Path, capsys: Out
) -> None:
    few = ["--policy", "cheapest", "--scenario", TOY, "--seeds", "0"]
    assert run(["eval", *few, "--backend", f"live:{server.url}", "--out", str(tmp_path / "few")]) == 0
    capsys.readouterr()
    more = ["--policy", "strongest-only", "--scenario", TOY, "--seeds", "0"]
    assert run(["eval", *more, "--backend", f"recorded:{tmp_path / 'few' / 'answers.jsonl'}"]) == 1
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1 and "has no answer of" in shown.err


MISUSED: list[tuple[list[str], str]] = [
    (["--backend", "live:http://127.0.0.1:9/v1"], "name a folder with --out"),
    (["--backend", "live:http://me:word@127.0.0.1:9/v1", "--out", "OUT"], "holds no password, query or fragment"),
    (["--backend", "live:http://127.0.0.1:9/v1?key=word", "--out", "OUT"], "holds no password, query or fragment"),
    (["--backend", "recorded:nowhere.jsonl"], "there is no recording"),
    (["--backend", "sim"], "did you mean 'simulated'?"),
    (["--backend", "live:http://127.0.0.1:9/v1", "--out", "OUT", "--engine", "ray"], "plays simulated models alone"),
    (["--cap-usd", "much"], "--cap-usd must be an amount in dollars"),
]


@pytest.mark.parametrize(("arguments", "cause"), MISUSED)
def test_a_wrong_backend_is_one_line_that_repeats_no_secret(
    arguments: list[str], cause: str, tmp_path: Path, capsys: Out
) -> None:
    line = [str(tmp_path / "run") if word == "OUT" else word for word in arguments]
    assert run(["eval", *PAIR, *line]) in (1, 2)
    shown = capsys.readouterr()
    assert cause in shown.err and shown.err.count("\n") == 1 and shown.out == ""
    assert "word" not in shown.err.replace("password", "")


def test_an_answer_of_no_use_is_played_on_and_replays(tmp_path: Path) -> None:
    with serving(lambda body: said("no JSON at all")) as server:
        assert played_live(server, tmp_path / "run") == 0
    assert run(["verify-run", str(tmp_path / "run"), "--workers", "1"]) == 0
