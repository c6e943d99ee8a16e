"""Full disks and damaged files: a clear error or a recovery, and nothing half-written is ever taken for whole."""

from __future__ import annotations

import gzip
import os
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from tests import cases
from TokenOptEnv import LocalEnv, policies, scenario_store
from TokenOptEnv.cli.main import run
from TokenOptEnv.errors import BadInput, CamreError, ScenarioInvalid
from TokenOptEnv.evaluation import runner, suite
from TokenOptEnv.evaluation.run_folder import RunFolder, load_run
from TokenOptEnv.evaluation.suite import RunOptions, RunSpec
from TokenOptEnv.plans import plan_store
from TokenOptEnv.scenario import dump_scenario
from TokenOptEnv.scenario_store import core, imported, pack_archive, train_cache
from TokenOptEnv.scenario_store.pack_archive import Pack
from TokenOptEnv.scenario_store.splits import case_at
from TokenOptEnv.task_defs.generation import Split
from TokenOptEnv.traces import Trace

Out = pytest.CaptureFixture[str]


@contextmanager
def disk_full_at(size_bytes: int) -> Iterator[None]:
    """No file can grow beyond this: a write that would fails half done, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def damaged(data: bytes, draw: Random) -> bytes:
    """A few bits flipped, a piece cut out, cut short, doubled, or zeros where a block was not written."""
    changed = bytearray(data)
    place = draw.randrange(len(changed))
    match draw.randrange(5):
        case 0:
            for _ in range(draw.randrange(1, 4)):
                changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
        case 1:
            del changed[place:]
        case 2:
            del changed[place : place + draw.randrange(1, 40)]
        case 3:
            changed[place:place] = changed[place : place + 100]
        case _:
            changed[place : place + 64] = bytes(len(changed[place : place + 64]))
    return bytes(changed)


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# --- results


@pytest.fixture
def spec(store: tuple[str, ...]) -> RunSpec:
    return suite.run_spec(["cheapest", "random"], "core", [cases.TOY, cases.PATCHES], (0, 1), RunOptions())


def _play(spec: RunSpec, folder: Path) -> None:
    with RunFolder.opened(folder, spec) as held:
        for _ in runner.play(spec, held, workers=1):
            pass


def test_a_run_on_a_full_disk_stops_with_an_error_and_goes_on_when_there_is_room(spec: RunSpec, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    _play(spec, whole)
    results = load_run(whole).results
    largest = max(len(data) for data in _files(whole).values())
    stopped = 0
    for size in range(200, largest, largest // 12):
        with disk_full_at(size):
            try:
                _play(spec, broken)
            except OSError as fault:
                assert fault.strerror == "File too large"
                stopped += 1
            except BadInput as told:
                assert "--fresh" in str(told)
                stopped += 1
        if (broken / "run.json").is_file():
            try:
                found = load_run(broken).results
            except BadInput:  # the statement of what is played was not written whole, so nothing was played
                assert not (broken / "results.jsonl").exists() or not (broken / "results.jsonl").read_bytes()
                continue
            assert all(result in results for result in found), "half a result was read as a whole one"
    assert stopped > 5
    _play(spec, broken)
    assert _files(broken) == _files(whole)


def test_the_command_says_in_one_line_that_the_disk_is_full(tmp_path: Path, capsys: Out) -> None:
    smallest = min(scenario_store.index().scenarios, key=lambda row: row.artifact_tokens).scenario_id
    line = ["eval", "--policy", "random", "--scenario", smallest, "--seeds", "0", "--workers", "1"]
    with disk_full_at(2_000):
        assert run([*line, "--out", str(tmp_path)]) == 1
    told = capsys.readouterr().err.splitlines()
    assert len([each for each in told if each.startswith("camre: File too large")]) == 1
    assert not any("Traceback" in each for each in told)
    assert run([*line, "--out", str(tmp_path)]) == 0


def test_a_damaged_result_is_never_read_as_another_one(spec: RunSpec, tmp_path: Path) -> None:
    _play(spec, tmp_path)
    file = tmp_path / "results.jsonl"
    data, results = file.read_bytes(), load_run(tmp_path).results
    draw = Random(1)
    caught = 0
    for _ in range(150):
        file.write_bytes(damaged(data, draw))
        try:
            assert all(result in results for result in load_run(tmp_path).results)
        except BadInput as told:
            assert "\n" not in str(told)
            caught += 1
    assert caught > 50


def test_a_damaged_statement_of_what_is_played_is_one_line(spec: RunSpec, tmp_path: Path) -> None:
    _play(spec, tmp_path)
    file = tmp_path / "run.json"
    data = file.read_bytes()
    draw = Random(2)
    for _ in range(60):
        file.write_bytes(damaged(data, draw))
        for use in (load_run, lambda folder: _play(spec, folder)):
            try:
                use(tmp_path)
            except CamreError as told:
                assert "\n" not in str(told)


# --- cases


def _same_or_told(load: Callable[[bytes], bool], draw: Random, data: bytes, times: int) -> tuple[int, int]:
    """How often what was read was whole all the same, and how often an error was told."""
    whole = told = 0
    for _ in range(times):
        try:
            found = load(damaged(data, draw))
        except CamreError as fault:
            assert "\n" not in str(fault) and len(str(fault)) < 300
            told += 1
        else:
            assert found, "something else than what was written was read as whole"
            whole += 1
    return whole, told


def test_a_damaged_pack_gives_what_was_put_in_or_an_error(tmp_path: Path) -> None:
    file = tmp_path / "pack.zip"
    entries = [pack_archive.entry(case, b'{"plans":' + b"1" * 300 + b"}") for case in (cases.toy(), cases.patches())]
    pack_archive.write(file, "validation", 1, 1, "3.11", entries)

    def load(data: bytes) -> bool:
        pack = Pack(data, "validation")
        read = [pack.entry(each.row.scenario_id) for each in entries]
        return read == entries and pack.scenario(cases.TOY).content_hash == cases.toy().content_hash

    _, told = _same_or_told(load, Random(3), file.read_bytes(), 300)
    assert told > 100


def test_a_damaged_case_of_the_core_suite_is_an_error(
    store: tuple[str, ...], shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in shipped.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(core, "shipped_folder", lambda: tmp_path)
    file = tmp_path / f"{cases.TOY}.json.gz"

    def load(data: bytes) -> bool:
        file.write_bytes(data)
        return core.load(cases.TOY).content_hash == cases.toy().content_hash

    _, told = _same_or_told(load, Random(4), file.read_bytes(), 60)
    assert told > 40
    index = tmp_path / "index.json"

    def load_index(data: bytes) -> bool:
        index.write_bytes(data)
        core.index.cache_clear()
        return core.load(cases.TOY).content_hash == cases.toy().content_hash

    file.write_bytes(dump_scenario(cases.toy()))
    _, told = _same_or_told(load_index, Random(5), index.read_bytes(), 60)
    core.index.cache_clear()
    assert told > 20


def test_damaged_plans_of_the_core_suite_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan_store.ship([], tmp_path)
    file = tmp_path / "plans.json.gz"
    data = file.read_bytes()
    monkeypatch.setattr(plan_store, "shipped_folder", lambda: tmp_path)

    def load(changed: bytes) -> bool:
        file.write_bytes(changed)
        plan_store._shipped.cache_clear()
        return plan_store._shipped() == {}

    _, told = _same_or_told(load, Random(8), data, 60)
    plan_store._shipped.cache_clear()
    assert told > 20


def test_a_damaged_imported_case_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAMRE_SCENARIOS_DIR", str(tmp_path))
    public = cases.toy().public.model_copy(update={"scenario_id": "imported-easy-mine"})
    scenario = type(cases.toy())(public, cases.toy().hidden)
    file = imported.keep(scenario, b"{}", tmp_path)

    for target in (file, tmp_path / "index.json"):
        data = target.read_bytes()

        def load(changed: bytes, target: Path = target) -> bool:
            target.write_bytes(changed)
            return imported.load("imported-easy-mine").content_hash == scenario.content_hash

        _, told = _same_or_told(load, Random(6), data, 60)
        assert told > 20
        target.write_bytes(data)


def test_an_import_on_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAMRE_SCENARIOS_DIR", str(tmp_path))
    public = cases.toy().public.model_copy(update={"scenario_id": "imported-easy-mine"})
    scenario = type(cases.toy())(public, cases.toy().hidden)
    imported.keep(scenario, b"{}", tmp_path)
    other = type(scenario)(public.model_copy(update={"title": "Another"}), scenario.hidden)
    with disk_full_at(100), pytest.raises(OSError, match="File too large"):
        imported.keep(other, b"{}", tmp_path)
    assert imported.load("imported-easy-mine").content_hash == scenario.content_hash


# --- the cache of generated cases


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache whose generator gives the toy case: generating is not what is tested here."""
    monkeypatch.setenv("CAMRE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(train_cache, "generate", lambda case: cases.toy())
    return tmp_path


_CASE = case_at(Split.TRAIN, 3)


def test_a_damaged_file_of_the_cache_is_built_anew(cached: Path) -> None:
    wanted = train_cache.load(_CASE).content_hash
    (file,) = cached.rglob("*.bin")
    data = file.read_bytes()
    draw = Random(7)
    for _ in range(60):
        file.write_bytes(damaged(data, draw))
        assert train_cache.load(_CASE).content_hash == wanted
        assert file.read_bytes() == data, "it was not written anew"


def test_a_full_disk_costs_the_cache_nothing_but_time(cached: Path) -> None:
    with disk_full_at(500):
        assert train_cache.load(_CASE).content_hash == cases.toy().content_hash
    assert [path for path in cached.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("moment_s", [-(2**31), 0, 2**31, 2**33])
def test_files_from_the_future_or_the_distant_past_are_read_and_dropped_like_others(
    cached: Path, moment_s: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_cache.load(_CASE)
    (file,) = cached.rglob("*.bin")
    os.utime(file, (moment_s, moment_s))
    monkeypatch.setattr(train_cache, "generate", lambda case: pytest.fail("it was there"))
    assert train_cache.load(_CASE).content_hash == cases.toy().content_hash
    os.utime(file, (moment_s, moment_s))
    monkeypatch.setattr(train_cache, "_MOST_BYTES", 0)
    train_cache._shrink()
    assert not file.exists()


# --- the clock


def test_an_episode_is_the_same_while_the_clock_jumps(monkeypatch: pytest.MonkeyPatch) -> None:
    def played() -> str:
        env, policy = LocalEnv(), policies.make("expert", 1)
        seen = env.reset(scenario_id=cases_easy(), seed=1)
        trace = Trace(seen)
        while not seen.done:
            action = policy.act(seen)
            seen = env.step(action)
            trace.add(action, seen)
        return trace.to_jsonl()

    steady = played()
    jumps = iter(range(10**9))
    for name in ("time", "monotonic", "perf_counter"):
        monkeypatch.setattr(time, name, lambda: (-1) ** next(jumps) * 1e9 * next(jumps))
    assert played() == steady


def cases_easy() -> str:
    return next(name for name in scenario_store.ids("core") if "-easy-" in name)


def test_a_gzip_file_of_another_content_is_not_taken_for_the_case(shipped: Path, store: tuple[str, ...]) -> None:
    file = shipped / f"{cases.TOY}.json.gz"
    data = file.read_bytes()
    try:
        file.write_bytes(gzip.compress(b"{}"))
        with pytest.raises(ScenarioInvalid, match="is not what the index says"):
            core.load(cases.TOY)
    finally:
        file.write_bytes(data)
