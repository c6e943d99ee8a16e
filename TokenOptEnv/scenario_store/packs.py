"""The shipped packs of generated cases: one archive a split, a member a case, and a hash of each content."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import BytesIO
from pathlib import Path

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.scenario import Scenario, load_scenario_json, scenario_json
from TokenOptEnv.scenario_store.splits import Case
from TokenOptEnv.task_defs.generation import GENERATOR_VERSION, Split, split_of

_INDEX = "index.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)


class PackIndex(Frozen):
    generator_version: int
    split: Split
    hashes: dict[str, str]
    """By scenario id: the hash of its canonical content."""


def pack_file(split: Split) -> Traversable:
    return files("TokenOptEnv") / "data" / "packs" / f"{split.value}.zip"


def holds(case: Case) -> bool:
    """Is this case in a shipped pack? A pack of another generator version holds nothing of ours."""
    index = _index(split_of(case.number))
    return index is not None and index.generator_version == GENERATOR_VERSION and case.scenario_id in index.hashes


def load(case: Case) -> Scenario:
    split = split_of(case.number)
    index, archive = _index(split), _archive(split)
    assert index is not None and archive is not None
    name = f"{case.scenario_id}.json"
    scenario = load_scenario_json(archive.read(name), name)
    if scenario.content_hash != index.hashes[case.scenario_id]:
        raise ScenarioInvalid(f"{name!r} in pack {split.value!r} is not what its index says; fetch the pack again")
    return scenario


def write(split: Split, scenarios: Iterable[Scenario], file: Path) -> PackIndex:
    """One archive, the same bytes for the same content on one machine; the hashes are the same on all."""
    hashes: dict[str, str] = {}
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".draft")
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_LZMA) as archive:
        for scenario in scenarios:
            hashes[scenario.scenario_id] = scenario.content_hash
            archive.writestr(_member(f"{scenario.scenario_id}.json"), scenario_json(scenario))
        index = PackIndex(generator_version=GENERATOR_VERSION, split=split, hashes=hashes)
        archive.writestr(_member(_INDEX), index.model_dump_json(indent=1))
    draft.replace(file)
    return index


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_LZMA
    return info


@lru_cache(maxsize=4)
def _archive(split: Split) -> zipfile.ZipFile | None:
    file = pack_file(split)
    if split is Split.TRAIN or not file.is_file():
        return None
    try:
        return zipfile.ZipFile(BytesIO(file.read_bytes()))
    except zipfile.BadZipFile:
        raise ScenarioInvalid(f"pack {split.value!r} is damaged; fetch it again") from None


@lru_cache(maxsize=4)
def _index(split: Split) -> PackIndex | None:
    archive = _archive(split)
    return None if archive is None else PackIndex.model_validate_json(archive.read(_INDEX))
