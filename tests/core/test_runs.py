"""Runs: whatever interrupts them and however many play, the same bytes are left, and each episode counts once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import cases
from TokenOptEnv import LocalEnv, policies, scenario_store
from TokenOptEnv.errors import BadInput, UnknownName
from TokenOptEnv.evaluation import runner, suite
from TokenOptEnv.evaluation.episodes import EpisodeResult, play
from TokenOptEnv.evaluation.result_lines import from_line, to_line
from TokenOptEnv.evaluation.run_folder import RunFolder, job_of, load_run, trace_path
from TokenOptEnv.evaluation.runner import Engine
from TokenOptEnv.evaluation.suite import Job, RunOptions, RunSpec
from TokenOptEnv.models import ActionType, EndReason

SMALLEST = min(scenario_store.index().scenarios, key=lambda row: row.artifact_tokens).scenario_id


def toy_spec(*names: str, seeds: tuple[int, ...] = (0, 1), episodes: int | None = None) -> RunSpec:
    return suite.run_spec(
        names or ("cheapest", "random"), "core", [cases.TOY, cases.PATCHES], seeds, RunOptions(), episodes
    )


def played(spec: RunSpec, folder: Path, most: int | None = None, fresh: bool = False) -> list[EpisodeResult]:
    """A whole run, or its first episodes, as after a kill."""
    results = []
    with RunFolder.opened(folder, spec, fresh) as held:
        for result in runner.play(spec, held, workers=1):
            results.append(result)
            if len(results) == most:
                break
    return results


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def toys(store: tuple[str, ...]) -> Iterator[None]:
    yield


@pytest.mark.usefixtures("toys")
class TestOneProcess:
    def test_a_finished_run_has_a_line_and_a_trace_for_each_episode_in_canonical_order(self, tmp_path: Path) -> None:
        spec = toy_spec()
        results = played(spec, tmp_path)
        run = load_run(tmp_path)
        assert run.finished and run.spec == spec
        assert tuple(map(job_of, run.results)) == spec.jobs()
        assert sorted(map(job_of, results)) == sorted(spec.jobs())
        for result in run.results:
            again = play(result.policy, result.scenario_id, result.seed, LocalEnv())
            assert result == again.result
            assert trace_path(tmp_path, job_of(result)).read_text(encoding="utf-8") == again.trace.to_jsonl()

    @pytest.mark.parametrize("most", [1, 3, 7])
    def test_an_interrupted_run_goes_on_and_leaves_the_same_bytes(self, tmp_path: Path, most: int) -> None:
        spec = toy_spec()
        played(spec, tmp_path / "whole")
        played(spec, tmp_path / "broken", most)
        assert not load_run(tmp_path / "broken").finished
        played(spec, tmp_path / "broken")
        assert files(tmp_path / "broken") == files(tmp_path / "whole")

    @pytest.mark.parametrize("kept", [1, 20, 400])
    def test_a_half_written_line_is_cut_off_and_its_episode_played_again(self, tmp_path: Path, kept: int) -> None:
        spec = toy_spec()
        played(spec, tmp_path / "whole")
        played(spec, tmp_path / "broken", 3)
        file = tmp_path / "broken" / "results.jsonl"
        lines = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(b"".join(lines[:2]) + lines[2][:kept])
        assert len(load_run(tmp_path / "broken").results) == 2
        played(spec, tmp_path / "broken")
        assert files(tmp_path / "broken") == files(tmp_path / "whole")

    def test_a_run_that_is_finished_is_not_played_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        spec = toy_spec()
        played(spec, tmp_path)
        before = files(tmp_path)
        monkeypatch.setattr(runner, "play_unit", lambda *ignored: pytest.fail("it was played again"))
        assert len(played(spec, tmp_path)) == len(spec.jobs())
        assert files(tmp_path) == before

    def test_a_damaged_line_is_an_error_that_names_it(self, tmp_path: Path) -> None:
        played(toy_spec(), tmp_path)
        file = tmp_path / "results.jsonl"
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace('"seed":1', '"seed":3', 1), encoding="utf-8")
        with pytest.raises(BadInput, match=r"line 2 of .* is damaged: its checksum does not fit"):
            load_run(tmp_path)

    def test_a_folder_of_another_run_is_not_mixed_with_this_one(self, tmp_path: Path) -> None:
        played(toy_spec(), tmp_path, 2)
        with pytest.raises(BadInput, match=r"another run: seeds is \(0, 1\), and not \(5,\).*--fresh"):
            played(toy_spec(seeds=(5,)), tmp_path)
        played(toy_spec(seeds=(5,)), tmp_path, fresh=True)
        assert {result.seed for result in load_run(tmp_path).results} == {5}
        assert len(list((tmp_path / "traces").rglob("*@1.jsonl"))) == 0

    def test_results_of_other_code_are_not_mixed_with_ours(self, tmp_path: Path) -> None:
        spec = toy_spec()
        with RunFolder.opened(tmp_path, spec.model_copy(update={"code": "0" * 16})):
            pass
        with pytest.raises(BadInput, match="code is 0000000000000000"):
            played(spec, tmp_path)

    def test_a_worker_with_other_code_refuses_to_play(self) -> None:
        spec = toy_spec().model_copy(update={"code": "0" * 16})
        unit = suite.units(spec.jobs())[0]
        with pytest.raises(BadInput, match="a worker runs other code"):
            runner.play_unit(spec, None, unit)

    def test_two_runs_do_not_write_to_one_folder_at_once(self, tmp_path: Path) -> None:
        spec = toy_spec()
        with (
            RunFolder.opened(tmp_path, spec),
            pytest.raises(BadInput, match="another run is writing"),
            RunFolder.opened(tmp_path, spec),
        ):
            pass
        with RunFolder.opened(tmp_path, spec):
            pass

    def test_nothing_is_deleted_in_a_folder_that_is_no_runs(self, tmp_path: Path) -> None:
        (tmp_path / "traces").mkdir()
        (tmp_path / "traces" / "mine.txt").write_text("precious")
        with pytest.raises(BadInput, match="nothing is deleted there"):
            played(toy_spec(), tmp_path, fresh=True)
        assert (tmp_path / "traces" / "mine.txt").read_text() == "precious"

    def test_a_folder_without_a_run_is_no_run(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"holds no run\.json"):
            load_run(tmp_path)

    def test_two_results_of_one_episode_are_an_error(self, tmp_path: Path) -> None:
        played(toy_spec(), tmp_path)
        file = tmp_path / "results.jsonl"
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        file.write_text("".join([*lines, lines[0]]), encoding="utf-8")
        with pytest.raises(BadInput, match="has two results of cheapest on"):
            load_run(tmp_path)


@pytest.mark.usefixtures("toys")
class TestWhatIsPlayed:
    def test_each_is_played_once_however_often_it_was_named(self) -> None:
        spec = suite.run_spec(["random", "random"], "core", [cases.TOY, cases.TOY], [0, 1, 0], RunOptions())
        assert spec.jobs() == (Job("random", cases.TOY, 0), Job("random", cases.TOY, 1))

    def test_a_number_of_episodes_takes_every_scenario_before_any_again(self) -> None:
        jobs = toy_spec("random", episodes=3).jobs()
        assert [(job.scenario_id, job.seed) for job in jobs] == [(cases.TOY, 0), (cases.TOY, 1), (cases.PATCHES, 0)]
        assert len(toy_spec("random", episodes=99).jobs()) == 4

    def test_an_endless_split_wants_a_number(self) -> None:
        with pytest.raises(BadInput, match="say how many to play, like --episodes 300"):
            suite.scenarios_of("train", None)
        assert len(suite.scenarios_of("train", 7)) == 7

    def test_all_episodes_are_in_units_and_slow_ones_in_units_of_their_own(self) -> None:
        jobs = toy_spec("random", "cheapest", seeds=tuple(range(20))).jobs()
        units = suite.units(jobs, one_by_one={"random"})
        assert sorted(job for unit in units for job in unit.jobs) == sorted(jobs)
        assert all(len({job.scenario_id for job in unit.jobs}) == 1 for unit in units)
        assert {len(unit.jobs) for unit in units if unit.jobs[0].policy == "random"} == {1}
        assert max(len(unit.jobs) for unit in units) == 12

    def test_options_are_refused_with_the_words_of_reset(self) -> None:
        with pytest.raises(BadInput, match="profile must be one of v1, v2"):
            suite.options(profile="v3")
        with pytest.raises(UnknownName, match="no model 'gpt'"):
            suite.options(controller_model="gpt")

    def test_a_result_survives_its_line_and_a_changed_one_does_not(self) -> None:
        result = play("random", cases.TOY, 3, LocalEnv()).result
        line = to_line(result)
        assert from_line(line) == result
        for broken in (line[:-1], line.replace('"steps":', '"stepz":'), line.replace("random", "randon"), "", "{}\n"):
            assert from_line(broken) is None


GUEST = '''
from TokenOptEnv import ActionType, TokenOptEnvAction
from TokenOptEnv.policies.cheapest import Cheapest

class Mine(Cheapest):
    """Does as cheapest does."""

class NoSeed:
    """Gives up at once."""
    def act(self, observation):
        name = observation.task.answer_fields[0].name
        return TokenOptEnvAction(action_type=ActionType.SUBMIT_ANSWER, answer={name: "unknown"})

class Meddler(Cheapest):
    """Writes the answer it wants into the findings it is shown."""
    def act(self, observation):
        for finding in observation.findings:
            for name in finding.values:
                finding.values[name] = "req-7f3a"
        for name in list(observation.legal_actions.choices):
            observation.legal_actions.choices[name] = ()
        observation.metadata["touched"] = True
        return super().act(observation)

class Broken:
    def act(self, observation):
        raise RuntimeError("no idea\\nat all")

class Mute:
    def act(self, observation):
        return "read 1"

class Greedy:
    def __init__(self, seed, env):
        pass

class Deaf:
    pass

number = 7
'''


@pytest.fixture
def guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module of somebody else's, in the current folder."""
    name = f"guest_{abs(os.getpid())}"
    (tmp_path / f"{name}.py").write_text(GUEST, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    policies.info.cache_clear()
    yield name
    sys.modules.pop(name, None)
    policies.info.cache_clear()


@pytest.mark.usefixtures("toys")
class TestGuests:
    def test_a_policy_of_ones_own_is_loaded_by_module_and_class(self, guest: str) -> None:
        about = policies.info(f"{guest}:Mine")
        assert about.is_guest and about.describes == "Does as cheapest does." and not about.knows_truth
        ours, theirs = play("cheapest", cases.TOY, 1, LocalEnv()), play(f"{guest}:Mine", cases.TOY, 1, LocalEnv())
        assert theirs.trace.to_jsonl() == ours.trace.to_jsonl()
        assert play(f"{guest}:NoSeed", cases.TOY, 1, LocalEnv()).result.end_reason is EndReason.SUBMITTED

    def test_nothing_a_guest_does_to_what_it_is_shown_reaches_the_engine(self, guest: str) -> None:
        env = LocalEnv()
        meddled = play(f"{guest}:Meddler", cases.TOY, 0, env)
        clean = LocalEnv()
        seen = clean.reset(scenario_id=cases.TOY, seed=0)
        for step in meddled.trace.steps:
            seen = clean.step(step.action)
        assert seen.score == meddled.result.score

    def test_a_guest_is_handed_observations_and_nothing_that_plays(
        self, guest: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        handed: list[tuple[object, ...]] = []
        monkeypatch.setattr(sys.modules[guest] if guest in sys.modules else _imported(guest), "Mine", _spy(handed))
        policies.info.cache_clear()
        play(f"{guest}:Mine", cases.TOY, 0, LocalEnv())
        assert {type(each).__name__ for arguments in handed for each in arguments} == {"int", "TokenOptEnvObservation"}

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("Broken", r"on incident-easy-toy@0, step 1: RuntimeError: no idea at all; mend it"),
            ("Mute", "act returned str; it must return a TokenOptEnvAction"),
            ("Greedy", "is made from 2 arguments"),
            ("Deaf", r"has no method act\(observation\)"),
            ("number", "is a int; name a class"),
            ("Mini", "did you mean 'Mine'"),
        ],
    )
    def test_a_guest_that_does_not_work_is_one_clear_line(self, guest: str, name: str, expected: str) -> None:
        with pytest.raises((BadInput, UnknownName), match=expected) as fault:
            play(f"{guest}:{name}", cases.TOY, 0, LocalEnv())
        assert "\n" not in str(fault.value)

    def test_a_module_that_is_not_there_or_fails_is_one_clear_line(self, guest: str, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="there is no module 'nowhere'; run where it lies"):
            policies.info("nowhere:Mine")
        (tmp_path / "halfway.py").write_text("import nowhere_else\n")
        with pytest.raises(BadInput, match="module 'halfway' cannot be imported: ModuleNotFoundError"):
            policies.info("halfway:Mine")

    def test_a_changed_guest_is_other_code(self, guest: str, tmp_path: Path) -> None:
        before = toy_spec(f"{guest}:Mine").code
        (tmp_path / f"{guest}.py").write_text(GUEST + "# changed\n", encoding="utf-8")
        assert toy_spec(f"{guest}:Mine").code != before
        assert toy_spec("cheapest").code == toy_spec("cheapest").code != before


def _imported(name: str) -> object:
    policies.info(f"{name}:Mine")
    return sys.modules[name]


def _spy(handed: list[tuple[object, ...]]) -> type:
    class Spy:
        def __init__(self, seed: int) -> None:
            handed.append((seed,))
            self._inner = policies.make("cheapest", seed)

        def act(self, *arguments: object) -> object:
            handed.append(arguments)
            return self._inner.act(arguments[0])  # type: ignore[arg-type]

    return Spy


CHOSEN = ("cheapest", "random", "rag", "cascade")
CODE = "from TokenOptEnv.cli.main import main; main()"


def _camre(out: Path, *more: str) -> subprocess.Popen[str]:
    named = [word for name in CHOSEN for word in ("--policy", name)]
    line = [
        sys.executable,
        "-c",
        CODE,
        "eval",
        *named,
        "--scenario",
        SMALLEST,
        "--seeds",
        "0-9",
        "--out",
        str(out),
        *more,
    ]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def test_killed_at_any_moment_and_resumed_a_run_leaves_the_bytes_of_an_unbroken_one(tmp_path: Path) -> None:
    """Killed whenever so many lines have been written, in the middle of whatever it does then."""
    whole = _camre(tmp_path / "whole", "--workers", "1")
    assert whole.communicate(timeout=120)[1] == "" and whole.returncode == 0
    broken, lines = tmp_path / "broken", tmp_path / "broken" / "results.jsonl"
    for wanted, workers in ((1, "2"), (13, "1"), (25, "2")):
        run = _camre(broken, "--workers", workers)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and run.poll() is None:
            if lines.exists() and lines.read_bytes().count(b"\n") >= wanted:
                break
            time.sleep(0.002)
        os.kill(run.pid, signal.SIGKILL)
        run.communicate(timeout=60)
    last = _camre(broken, "--workers", "2")
    assert last.communicate(timeout=120)[1] == "" and last.returncode == 0
    assert files(broken) == files(tmp_path / "whole")
    assert len(load_run(broken).results) == len(CHOSEN) * 10


def test_one_worker_and_four_leave_the_same_bytes(tmp_path: Path) -> None:
    spec = suite.run_spec(["cheapest", "random"], suite.CHOSEN, scenario_store.ids("core")[:4], range(3), RunOptions())
    for workers in (1, 4):
        with RunFolder.opened(tmp_path / str(workers), spec) as folder:
            assert len(list(runner.play(spec, folder, workers, Engine.LOCAL))) == len(spec.jobs())
    assert files(tmp_path / "1") == files(tmp_path / "4")


def test_the_crew_is_no_larger_than_the_work() -> None:
    assert runner.crew(5) == 1
    assert 1 <= runner.crew(10_000) <= (os.cpu_count() or 1)


def test_no_action_type_is_left_out_of_the_count() -> None:
    results = [play("random", SMALLEST, seed, LocalEnv()).result for seed in range(3)]
    assert all(name in set(ActionType) for result in results for name in result.action_counts)
    assert all(sum(result.action_counts.values()) == result.steps for result in results)
