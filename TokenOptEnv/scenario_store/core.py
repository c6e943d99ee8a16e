"""The core suite: the cases designed by hand, built once and shipped."""

from __future__ import annotations

import gzip
import zlib
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from pydantic import ValidationError

from TokenOptEnv.errors import ScenarioInvalid, UnknownName
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.scenario import Scenario, dump_scenario, load_scenario_json
from TokenOptEnv.scenario_store.index_row import IndexRow, row_of
from TokenOptEnv.task_defs.family import families

_INDEX = "index.json"


class Index(Frozen):
    scenarios: tuple[IndexRow, ...]


def shipped_folder() -> Traversable:
    return files("TokenOptEnv") / "data" / "core"


@lru_cache(maxsize=1)
def index() -> Index:
    try:
        return Index.model_validate_json((shipped_folder() / _INDEX).read_bytes())
    except ValidationError:
        raise ScenarioInvalid(
            "the index of the core suite is damaged; install the package again, or rebuild it: camre scenarios build"
        ) from None


def load(scenario_id: str) -> Scenario:
    """One shipped case. What is checked is the file: a new field with a default makes no shipped case a bad one."""
    row = next((row for row in index().scenarios if row.scenario_id == scenario_id), None)
    if row is None:
        return _not_yet_shipped(scenario_id)
    name = f"{scenario_id}.json.gz"
    try:
        data = gzip.decompress((shipped_folder() / name).read_bytes())
    except (OSError, EOFError, zlib.error):
        data = b""
    if sha256(data).hexdigest() != row.content_hash:
        raise ScenarioInvalid(f"scenario file {name!r} is not what the index says; rebuild it: camre scenarios build")
    return load_scenario_json(data, name)


def _not_yet_shipped(scenario_id: str) -> Scenario:
    """A case that somebody is still writing: its author plays and checks it before it is built into the suite."""
    for family in families().values():
        if scenario_id in family.designed:
            return family.design(scenario_id)
    raise UnknownName("scenario", scenario_id, [row.scenario_id for row in index().scenarios], "camre scenarios list")


def designed() -> dict[str, Scenario]:
    """Build every case designed by hand, afresh."""
    return {
        scenario_id: family.design(scenario_id)
        for family in families().values()
        for scenario_id in sorted(family.designed)
    }


def ship(scenarios: dict[str, Scenario], folder: Path) -> Index:
    """Write the core suite: one file each, and an index with the hash of each content."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _shipped_names(folder):
        if name not in scenarios:
            (folder / f"{name}.json.gz").unlink(missing_ok=True)
    for scenario_id, scenario in scenarios.items():
        (folder / f"{scenario_id}.json.gz").write_bytes(dump_scenario(scenario))
    made = Index(scenarios=tuple(row_of(scenario) for scenario in scenarios.values()))
    (folder / _INDEX).write_text(made.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return made


def _shipped_names(folder: Path) -> tuple[str, ...]:
    """What an earlier index lists: nothing else in the folder is ours to remove."""
    file = folder / _INDEX
    if not file.is_file():
        return ()
    return tuple(row.scenario_id for row in Index.model_validate_json(file.read_bytes()).scenarios)
