"""Packs: what is put in comes out, what is broken is told, and a build is the same whoever does it and however often
it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from tests.cases import patches, toy
from TokenOptEnv import scenario_store
from TokenOptEnv.cli.main import run
from TokenOptEnv.config import Difficulty, EpisodeConfig
from TokenOptEnv.errors import BadInput, ScenarioInvalid, UnknownName
from TokenOptEnv.evaluation import mutated_plans, pack_building
from TokenOptEnv.evaluation.checks import cache as cache_check
from TokenOptEnv.evaluation.checks import execution, mutations, offers
from TokenOptEnv.evaluation.data_card import card
from TokenOptEnv.evaluation.pack_building import WorkFolder, build
from TokenOptEnv.plans import plan_store, reference_plan
from TokenOptEnv.plans.stored_plans import dump_plans, make_stored_plans
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.scenario_store import pack_archive, packs
from TokenOptEnv.scenario_store.pack_archive import Pack, PackEntry
from TokenOptEnv.scenario_store.splits import Case, case_at, generate
from TokenOptEnv.task_defs.generation import GENERATOR_VERSION, Split, outline
from TokenOptEnv.version import SCORING_VERSION

CASES = tuple(Case("incident", Difficulty.EASY, number) for number in (100_011, 100_012, 100_013))
EXECUTED_PLACES = 15
MOST_BYTES = 30_000_000
Out = pytest.CaptureFixture[str]


def written(file: Path, *entries: PackEntry, version: int = GENERATOR_VERSION) -> Pack:
    pack_archive.write(file, "validation", version, SCORING_VERSION, "3.11", entries)
    return Pack(file.read_bytes(), "validation")


@cache
def validation_case() -> Case:
    cases = (case_at(Split.VALIDATION, place) for place in range(60))
    return next(case for case in cases if (case.family, case.difficulty) == ("incident", Difficulty.EASY))


@cache
def validation_entry() -> PackEntry:
    scenario = generate(validation_case())
    return pack_archive.entry(scenario, dump_plans(make_stored_plans(scenario)))


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packs that the store looks into."""
    monkeypatch.setattr(packs, "packs_folder", lambda: tmp_path)
    monkeypatch.setenv("CAMRE_CACHE_DIR", str(tmp_path / "cache"))
    remembered = (packs.shipped, scenario_store.load, plan_store.stored_plans)
    for each in remembered:
        each.cache_clear()
    yield tmp_path
    for each in remembered:
        each.cache_clear()


# --- the archive


def test_a_pack_gives_back_what_was_put_in(tmp_path: Path) -> None:
    pack = written(tmp_path / "a.zip", pack_archive.entry(toy(), b"plans"), pack_archive.entry(patches(), b"others"))
    assert [row.scenario_id for row in pack.index.scenarios] == [toy().scenario_id, patches().scenario_id]
    assert pack.scenario(toy().scenario_id).content_hash == toy().content_hash
    assert pack.plans_json(patches().scenario_id) == b"others"
    assert pack.index.scenarios[0].content_hash == toy().content_hash


def test_the_hash_of_a_pack_is_of_its_cases_and_plans_in_order(tmp_path: Path) -> None:
    one, other = pack_archive.entry(toy(), b"plans"), pack_archive.entry(patches(), b"plans")
    replanned = pack_archive.entry(toy(), b"other plans")
    hashes = [
        written(tmp_path / "a.zip", *entries).index.content_hash
        for entries in ((one, other), (one, other), (other, one), (replanned, other), (one,))
    ]
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 4


def test_a_damaged_pack_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ScenarioInvalid, match="pack 'validation' is damaged; fetch it again"):
        Pack(b"not an archive", "validation")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("index.json", "{}")
    with pytest.raises(ScenarioInvalid, match="is damaged"):
        Pack((tmp_path / "a.zip").read_bytes(), "validation")


def test_a_case_that_is_not_what_the_index_says_is_told_with_its_name(tmp_path: Path) -> None:
    file = tmp_path / "a.zip"
    written(file, pack_archive.entry(toy(), b"plans"))
    data = bytearray(file.read_bytes())
    data[120] ^= 0xFF
    pack = Pack(bytes(data), "validation")
    with pytest.raises(ScenarioInvalid, match=f"{toy().scenario_id}.json' in pack 'validation' is not what its index"):
        pack.scenario(toy().scenario_id)
    with pytest.raises(UnknownName, match=f"did you mean '{toy().scenario_id}'"):
        pack.scenario(toy().scenario_id[:-1])


def test_half_a_pack_never_takes_the_place_of_a_whole_one(tmp_path: Path) -> None:
    file = tmp_path / "a.zip"
    before = written(file, pack_archive.entry(toy(), b"plans")).index.content_hash

    def broken() -> Iterator[PackEntry]:
        yield pack_archive.entry(patches(), b"plans")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pack_archive.write(file, "validation", 1, 1, "3.11", broken())
    assert Pack(file.read_bytes(), "validation").index.content_hash == before


# --- the shipped ones


def test_a_shipped_case_is_read_and_not_generated(shipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(shipped / "validation.zip", validation_entry())
    monkeypatch.setattr(scenario_store.train_cache, "generate", lambda case: pytest.fail("generated"))
    name = validation_case().scenario_id
    assert scenario_store.load(name).content_hash == validation_entry().row.content_hash
    assert [row.scenario_id for row in scenario_store.rows("validation")] == [name]


def test_shipped_plans_are_read_and_not_made(shipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(shipped / "validation.zip", validation_entry())
    scenario = scenario_store.load(validation_case().scenario_id)
    for maker in ("make_reference_plan", "make_clairvoyant_plan", "lower_bound"):
        monkeypatch.setattr(plan_store, maker, lambda *arguments: pytest.fail("made"))
    for index in range(4):
        bound = plan_store.bound_nano_usd(scenario, index, EpisodeConfig())
        clairvoyant = plan_store.clairvoyant_plan(scenario, index, EpisodeConfig())
        reference = reference_plan(scenario, index, EpisodeConfig())
        assert 0 < bound <= clairvoyant.nano_usd <= reference.nano_usd
        assert (reference.world_index, reference.scenario_id) == (index, scenario.scenario_id)


def test_plans_of_another_scoring_or_catalog_are_not_used() -> None:
    scenario = generate(validation_case())
    stored = plan_store.load_plans(validation_entry().plans_json, "case")
    config = EpisodeConfig()
    assert stored.fits(scenario, config)
    for change in ({"scoring_version": 0}, {"catalog_version": "other"}, {"content_hash": "other"}):
        assert not stored.model_copy(update=change).fits(scenario, config)


def test_a_pack_of_another_generator_holds_nothing_of_ours(shipped: Path) -> None:
    written(shipped / "validation.zip", validation_entry(), version=GENERATOR_VERSION + 1)
    assert not packs.holds(validation_case())
    with pytest.raises(BadInput, match="no pack of split 'validation' is shipped; build it"):
        scenario_store.rows("validation")


def test_what_is_shipped_is_whole_small_of_today_and_has_plans_that_are_used() -> None:
    """Nothing to ask where no pack is built yet; a pack that is there must be of today's generator and scoring."""
    files = [file for file in packs.packs_folder().iterdir() if file.name.endswith(".zip")] if _has_packs() else []
    assert sum(len(file.read_bytes()) for file in files) <= MOST_BYTES
    for file in files:
        split = Split(file.name.removesuffix(".zip"))
        pack = packs.shipped(split)
        assert pack is not None, f"{file.name} is of another generator; build it: camre scenarios build --split {split}"
        wanted = [case.scenario_id for case in pack_building.cases(split, None)]
        assert [row.scenario_id for row in pack.index.scenarios] == wanted
        assert f"`{pack.index.content_hash}`" in (packs.packs_folder() / f"{split.value}.md").read_text(
            encoding="utf-8"
        )
        for case in (case_at(split, place) for place in range(0, len(wanted), 50)):
            scenario = scenario_store.load(case.scenario_id)
            stored = plan_store.stored_plans(scenario)
            assert stored is not None and stored.fits(scenario, EpisodeConfig())


def _has_packs() -> bool:
    return packs.packs_folder().is_dir()


# --- building


def test_the_first_cases_of_a_split_are_asked_for_by_number() -> None:
    assert pack_building.cases(Split.TEST, 2) == (case_at(Split.TEST, 0), case_at(Split.TEST, 1))
    assert len(pack_building.cases(Split.VALIDATION, None)) == 300
    for split, count in ((Split.TRAIN, None), (Split.TEST, 0), (Split.TEST, 601)):
        with pytest.raises(BadInput):
            pack_building.cases(split, count)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The pack that one process builds at a stretch."""
    folder = tmp_path_factory.mktemp("unbroken")
    work = WorkFolder(folder / "work")
    assert [done.fault for done in build(CASES, work, 1)] == [None] * len(CASES)
    pack_building.assemble(folder / "train.zip", "train", CASES, work)
    return (folder / "train.zip").read_bytes()


_BUILD = """
import sys
from pathlib import Path
from TokenOptEnv.evaluation.pack_building import WorkFolder, build
from tests.core.test_packs import CASES
if __name__ == "__main__":
    list(build(CASES, WorkFolder(Path(sys.argv[1])), 2))
"""


def test_a_build_that_was_killed_goes_on_and_gives_the_same_bytes(tmp_path: Path, unbroken: bytes) -> None:
    """By two processes, which end when the one that started them is killed."""
    script, work = tmp_path / "script.py", WorkFolder(tmp_path / "work")
    script.write_text(_BUILD)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONHASHSEED": "11"}
    with subprocess.Popen(
        [sys.executable, str(script), str(work.path)], env=environment, stdout=subprocess.PIPE
    ) as process:
        while process.poll() is None and not list(work.path.glob("*.zip")):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate()  # comes back when every process that inherited the pipe has ended
    left = pack_building.unfinished(CASES, work)
    assert len(left) < len(CASES)
    assert [done.fault for done in build(left, work, 1)] == [None] * len(left)
    pack_building.assemble(tmp_path / "train.zip", "train", CASES, work)
    assert (tmp_path / "train.zip").read_bytes() == unbroken
    work.remove()
    assert not work.path.exists()


def test_a_damaged_piece_is_built_again(tmp_path: Path) -> None:
    work = WorkFolder(tmp_path)
    work.keep(CASES[0], validation_entry())
    assert pack_building.unfinished(CASES[:1], work) == CASES[:1]
    (tmp_path / f"{CASES[0].scenario_id}.zip").write_bytes(b"half")
    assert pack_building.unfinished(CASES[:1], work) == CASES[:1]
    with pytest.raises(ScenarioInvalid, match="is not finished; start the same command again"):
        pack_building.assemble(tmp_path / "a.zip", "train", CASES[:1], work)


def test_a_case_that_cannot_be_built_is_named_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(case: Case) -> Scenario:
        raise ScenarioInvalid(f"{case.number} has no draw")

    monkeypatch.setattr(pack_building, "generate", refused)
    assert [done.fault for done in build(CASES, WorkFolder(tmp_path), 1)] == [
        f"{case.number} has no draw" for case in CASES
    ]


def test_a_pack_that_is_not_what_is_built_today_is_told_case_by_case(tmp_path: Path) -> None:
    entry = validation_entry()
    case = validation_case()
    work = WorkFolder(tmp_path / "work")
    work.keep(case, entry)
    same = written(tmp_path / "a.zip", entry)
    replanned = written(tmp_path / "b.zip", pack_archive.entry(generate(case), b"other plans"))
    empty = written(tmp_path / "c.zip")
    assert pack_building.differences([case], work, same) == []
    assert pack_building.differences([case], work, empty) == [f"{case.scenario_id}: is not in the pack"]
    (line,) = pack_building.differences([case], work, replanned)
    assert line.startswith(f"{case.scenario_id}: its plans are {sha256(b'other plans').hexdigest()[:12]}, built ")


def test_what_other_sources_built_is_never_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "task_defs").mkdir()
    (tmp_path / "cli").mkdir()
    monkeypatch.setattr(pack_building, "files", lambda package: tmp_path)
    prints = []
    for file in ("task_defs/a.py", "cli/b.py", "engine.py", "task_defs/a.py"):
        (tmp_path / file).write_text(f"{len(prints)}")
        prints.append(pack_building.source_fingerprint())
    assert prints[0] == prints[1]
    assert len(set(prints)) == 3


def test_a_data_card_counts_what_is_in_the_pack(tmp_path: Path) -> None:
    pack = written(tmp_path / "a.zip", validation_entry())
    text = card(pack)
    assert "| incident | 1 | 0 | 0 | 0 | 1 |" in text
    assert f"`{pack.index.content_hash}`" in text
    assert "Seen in train and validation" in text and "clock_skew" not in text
    tokens = f"{validation_entry().row.artifact_tokens:,}"
    assert f"| artifact tokens | {tokens} / {tokens} / {tokens} |" in text


WRONG = {
    "a part to ship": (["--split", "test", "--count", "3"], "say where it goes: --folder"),
    "a part of core": (["--count", "3"], "built whole; leave --count out"),
    "all of train": (["--split", "train"], "say how many: --count"),
    "train to compare": (["--split", "train", "--check"], "leave --check out"),
    "too many": (["--split", "test", "--count", "601", "--check"], "has 1 to 600"),
    "an unknown split": (["--split", "tset"], "did you mean 'test'?"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_build_that_makes_no_sense_is_one_line(what: str, capsys: Out) -> None:
    arguments, expected = WRONG[what]
    assert run(["scenarios", "build", *arguments]) == 1
    told = capsys.readouterr()
    assert told.out == "" and told.err.count("\n") == 1 and expected in told.err


def test_the_truth_of_a_test_case_is_not_shown(capsys: Out) -> None:
    assert run(["scenarios", "show", scenario_store.at("test", 0), "--reveal"]) == 1
    assert "reveal is not for the test split" in capsys.readouterr().err


# --- checks of generated cases


def test_a_generated_case_has_a_valid_earlier_result_exactly_where_its_outline_wants_one() -> None:
    def first(valid: bool) -> Case:
        numbers = range(100_000, 100_100)
        number = next(n for n in numbers if outline("incident", Difficulty.EASY, n).valid_cache is valid)
        return Case("incident", Difficulty.EASY, number)

    for valid in (True, False):
        scenario = generate(first(valid))
        assert list(cache_check.check(scenario)) == []
        renamed = scenario.public.model_copy(update={"scenario_id": first(not valid).scenario_id})
        (fault,) = cache_check.check(Scenario(renamed, scenario.hidden))
        assert "valid entry" in fault.cause


def test_held_out_models_and_prices_are_offered_in_test_alone() -> None:
    for split in (Split.VALIDATION, Split.TEST):
        names = [case_at(split, place).scenario_id for place in range(3)]
        scenario = generate(validation_case())
        faults = [
            fault
            for name in names
            for fault in offers.check(
                Scenario(scenario.public.model_copy(update={"scenario_id": name}), scenario.hidden)
            )
        ]
        assert bool(faults) is (split is Split.TEST)


def test_a_mutated_plan_that_solves_below_the_bound_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(mutations.check(toy(), 40)) == []
    monkeypatch.setattr(mutated_plans, "bound_nano_usd", lambda *arguments: 10**12)
    faults = list(mutations.check(toy(), 40))
    assert 5 < len(faults) < 40, "some mutated plans solve the case, and some do not"
    assert all("below the bound of 1000000000000" in fault.line for fault in faults)


@cache
def executed_cases() -> tuple[Case, ...]:
    """The same thirty bug fixes at every run: the first easy ones of validation and of test."""
    found: list[Case] = []
    for split in (Split.VALIDATION, Split.TEST):
        cases = [case_at(split, place) for place in range(200)]
        easy = [case for case in cases if (case.family, case.difficulty) == ("bugfix", Difficulty.EASY)]
        found += easy[:EXECUTED_PLACES]
    return tuple(found)


def test_thirty_bug_fixes_hold_when_they_are_made_and_run_again(shipped: Path) -> None:
    assert len(executed_cases()) == 2 * EXECUTED_PLACES
    for case in executed_cases():
        scenario = scenario_store.load(case.scenario_id)
        assert [fault.line for fault in execution.check(scenario)] == []


def test_a_claim_that_running_does_not_bear_out_is_told() -> None:
    case = executed_cases()[0]
    scenario = generate(case)
    turned = {patch: not passed for patch, passed in scenario.hidden.verdicts.items()}
    forged = Scenario(scenario.public, scenario.hidden.model_copy(update={"verdicts": turned}))
    lines = [fault.line for fault in execution.check(forged)]
    assert lines[0].startswith(f"{case.scenario_id}: content: made again it is ")
    assert any(": verdicts: hidden tests fail with the patch" in line for line in lines[1:])
    assert all("\n" not in line for line in lines)


def test_a_designed_case_is_run_again_by_building_it(monkeypatch: pytest.MonkeyPatch) -> None:
    name = next(name for name in scenario_store.ids("core") if name.startswith("bugfix-easy"))
    scenario = scenario_store.designed()[name]
    assert list(execution.check(scenario)) == []
    stranger = Scenario(scenario.public.model_copy(update={"scenario_id": f"{name}-2"}), scenario.hidden)
    assert [fault.cause for fault in execution.check(stranger)] == ["is nobody's any more"]
    monkeypatch.setattr(execution, "PYTHON", (3, 1))
    (warning,) = execution.check(scenario)
    assert "run this with Python 3.1" in warning.line and warning.line.startswith("warning: ")
