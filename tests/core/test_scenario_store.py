"""Splits and the train cache."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from TokenOptEnv import scenario_store
from TokenOptEnv.config import Difficulty
from TokenOptEnv.errors import BadInput, UnknownName
from TokenOptEnv.scenario_store import train_cache
from TokenOptEnv.scenario_store.splits import Case, case_at, case_named
from TokenOptEnv.task_defs.generation import Split, split_of

CASE = Case("incident", Difficulty.EASY, 100_003)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CAMRE_CACHE_DIR", str(tmp_path))
    return tmp_path


def only_file(folder: Path) -> Path:
    (file,) = folder.rglob("*.bin")
    return file


def test_no_number_is_in_two_splits() -> None:
    for split in (Split.VALIDATION, Split.TEST):
        assert {split_of(case_at(split, place).number) for place in range(scenario_store.size(split.value))} == {split}
    assert split_of(case_at(Split.TRAIN, 123_456).number) is Split.TRAIN
    assert not set(scenario_store.ids("validation")) & set(scenario_store.ids("test"))


@pytest.mark.parametrize(("split", "size"), [(Split.VALIDATION, 300), (Split.TEST, 600)])
def test_families_and_difficulties_come_in_their_shares(split: Split, size: int) -> None:
    cases = [case_at(split, place) for place in range(size)]
    assert set(Counter(case.family for case in cases).values()) == {size // 3}
    shares = Counter(case.difficulty for case in cases)
    assert [shares[each] / size for each in Difficulty] == [0.35, 0.40, 0.20, 0.05]


def test_an_id_names_the_case_at_its_place() -> None:
    case = case_at(Split.TRAIN, 77)
    assert case_named(case.scenario_id) == case
    assert scenario_store.at("train", 77) == case.scenario_id
    assert case_named("incident-medium-kafka-backpressure") is None
    assert scenario_store.split_of("incident-medium-kafka-backpressure") == "core"
    assert scenario_store.split_of(scenario_store.at("test", 0)) == "test"


def test_a_place_beyond_a_split_and_a_list_of_train_are_told_in_one_line() -> None:
    with pytest.raises(BadInput, match="it goes from 0 to 299"):
        scenario_store.at("validation", 300)
    with pytest.raises(BadInput, match="name one by its index"):
        scenario_store.ids("train")
    with pytest.raises(UnknownName, match="did you mean 'train'"):
        scenario_store.size("trian")


def test_a_case_is_generated_once_and_read_back_the_same(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = train_cache.load(CASE)
    monkeypatch.setattr(train_cache, "generate", lambda case: pytest.fail("generated again"))
    assert train_cache.load(CASE).content_hash == made.content_hash
    assert only_file(cache).stat().st_size > 1_000


@pytest.mark.parametrize("damage", [b"", b"half", b"\x00" * 5_000])
def test_a_damaged_file_is_built_anew(cache: Path, damage: bytes) -> None:
    made = train_cache.load(CASE)
    file = only_file(cache)
    file.write_bytes(file.read_bytes()[:40] + damage)
    assert train_cache.load(CASE).content_hash == made.content_hash
    assert train_cache.load(CASE).content_hash == made.content_hash
    assert only_file(cache).stat().st_size > 1_000


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("CAMRE_CACHE_DIR", str(blocked))
    assert train_cache.load(CASE).scenario_id == CASE.scenario_id


def test_many_processes_may_build_the_same_case(cache: Path) -> None:
    code = f"from TokenOptEnv.scenario_store import load;print(load({CASE.scenario_id!r}).content_hash)"
    environment = {**os.environ, "CAMRE_CACHE_DIR": str(cache)}
    running = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    told = {process.communicate()[0].strip() for process in running}
    assert told == {train_cache.load(CASE).content_hash}
    assert [file.name for file in cache.rglob("*") if file.is_file()] == [only_file(cache).name]


def test_the_folder_is_kept_under_its_size(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for age, name in enumerate(("old", "older", "oldest")):
        file = cache / f"{name}.bin"
        file.write_bytes(b"x" * 1_000)
        os.utime(file, (1_000 - age, 1_000 - age))
    monkeypatch.setattr(train_cache, "_MOST_BYTES", 2_000)
    train_cache._shrink()
    assert sorted(file.stem for file in cache.glob("*.bin")) == ["old", "older"]


def test_what_is_used_is_dropped_last(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train_cache.load(CASE)
    mine = only_file(cache)
    os.utime(mine, (1, 1))
    newer = cache / "newer.bin"
    newer.write_bytes(b"x" * 1_000)
    os.utime(newer, (2, 2))
    train_cache.load(CASE)
    monkeypatch.setattr(train_cache, "_MOST_BYTES", mine.stat().st_size)
    train_cache._shrink()
    assert only_file(cache) == mine


def test_a_file_that_another_process_drops_first_is_no_fault(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the listing and the look at each file, everything is gone."""
    names = [cache / f"{number}.bin" for number in range(3)]
    monkeypatch.setattr(Path, "rglob", lambda self, pattern: iter(names))
    monkeypatch.setattr(train_cache, "_MOST_BYTES", 0)
    train_cache._shrink()
    names[0].write_bytes(b"x")
    train_cache._shrink()
    assert not names[0].exists()


def test_a_draft_of_a_killed_process_is_neither_read_nor_kept_for_ever(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = train_cache.load(CASE)
    draft = only_file(cache).with_suffix(".1-2.draft")
    draft.write_bytes(b"half")
    os.utime(draft, (1, 1))
    assert train_cache.load(CASE).content_hash == made.content_hash
    monkeypatch.setattr(train_cache, "_MOST_BYTES", only_file(cache).stat().st_size)
    train_cache._shrink()
    assert not draft.exists()


def test_another_generator_or_python_has_files_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    name = train_cache._name(CASE)
    monkeypatch.setattr(train_cache, "GENERATOR_VERSION", train_cache.GENERATOR_VERSION + 1)
    assert train_cache._name(CASE) != name
    assert f"py{sys.version_info.major}{sys.version_info.minor}" in name
