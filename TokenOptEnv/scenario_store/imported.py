"""Cases that a user imported: files in a folder of the user's, listed by an index beside them.

The folder is `CAMRE_SCENARIOS_DIR`, or `camre-scenarios` where the command runs. A case and its plans are written
beside and renamed, the index last: nobody reads half of one.
"""

from __future__ import annotations

import gzip
import os
import zlib
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from TokenOptEnv.errors import BadInput, ScenarioInvalid, UnknownName
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.scenario import Scenario, dump_scenario, load_scenario_json
from TokenOptEnv.scenario_store.index_row import IndexRow, row_of

IMPORTED = "imported"
"""The split, and the family that its ids begin with."""
_INDEX = "index.json"
_CASE_ENDING = ".json.gz"
_PLANS_ENDING = ".plans.json.gz"
_HINT = "camre scenarios list --split imported"


class _Index(Frozen):
    scenarios: tuple[IndexRow, ...] = ()


def folder() -> Path:
    given = os.environ.get("CAMRE_SCENARIOS_DIR")
    return Path(given) if given else Path("camre-scenarios")


def is_imported(scenario_id: str) -> bool:
    return scenario_id.startswith(f"{IMPORTED}-")


def rows(where: Path | None = None) -> tuple[IndexRow, ...]:
    """Nothing where nothing was imported yet."""
    file = (where or folder()) / _INDEX
    if not file.is_file():
        return ()
    try:
        return _Index.model_validate_json(file.read_bytes()).scenarios
    except ValidationError:
        raise ScenarioInvalid(f"{file.name!r} is no index of scenarios; import again into an empty folder") from None


def load(scenario_id: str) -> Scenario:
    row = next((row for row in rows() if row.scenario_id == scenario_id), None)
    if row is None:
        raise UnknownName("scenario in CAMRE_SCENARIOS_DIR", scenario_id, [row.scenario_id for row in rows()], _HINT)
    name = f"{scenario_id}{_CASE_ENDING}"
    try:
        data = gzip.decompress((folder() / name).read_bytes())
    except (OSError, EOFError, zlib.error):
        data = b""
    if sha256(data).hexdigest() != row.content_hash:
        raise ScenarioInvalid(f"scenario file {name!r} is not what its index says; import it again")
    return load_scenario_json(data, name)


def plans_json(scenario_id: str) -> bytes | None:
    """The plans that were made at the import; None where they were not, and are made when they are needed."""
    try:
        return gzip.decompress((folder() / f"{scenario_id}{_PLANS_ENDING}").read_bytes())
    except (OSError, EOFError, zlib.error):
        return None


def keep(scenario: Scenario, plans: bytes | None, where: Path) -> Path:
    """An import replaces an earlier one of the same slug, whatever its size was."""
    if where.exists() and not where.is_dir():
        raise BadInput(f"{str(where)!r} is no folder; scenarios are kept in one: --folder")
    where.mkdir(parents=True, exist_ok=True)
    earlier = tuple(row for row in rows(where) if _slug(row.scenario_id) == _slug(scenario.scenario_id))
    others = tuple(row for row in rows(where) if row not in earlier)
    file = where / f"{scenario.scenario_id}{_CASE_ENDING}"
    _write(file, dump_scenario(scenario))
    beside = where / f"{scenario.scenario_id}{_PLANS_ENDING}"
    if plans is None:
        beside.unlink(missing_ok=True)
    else:
        _write(beside, gzip.compress(plans, mtime=0))
    index = _Index(scenarios=tuple(sorted((*others, row_of(scenario)), key=lambda row: row.scenario_id)))
    _write(where / _INDEX, index.model_dump_json(indent=1).encode() + b"\n")
    for row in earlier:
        if row.scenario_id != scenario.scenario_id:
            for ending in (_CASE_ENDING, _PLANS_ENDING):
                (where / f"{row.scenario_id}{ending}").unlink(missing_ok=True)
    return file


def _slug(scenario_id: str) -> str:
    """What comes after family and difficulty."""
    return scenario_id.split("-", 2)[-1]


def _write(file: Path, data: bytes) -> None:
    draft = file.with_name(f"{file.name}.{os.getpid()}.draft")
    draft.write_bytes(data)
    draft.replace(file)
