"""A pack: generated cases with their plans in one archive, each member readable on its own.

A case is kept as its canonical JSON, so the hash of the bytes read *is* the hash of the content and nothing has to
be dumped again to check it. Every member is compressed by itself: measured on all families and difficulties, that
takes some 16 KB a case, and a block of several cases would save a third of it at several times the reading time.
What the plans say is not this room's business: they are bytes with a hash here.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from lzma import LZMAError
from pathlib import Path

from TokenOptEnv.errors import ScenarioInvalid, UnknownName
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.scenario import Scenario, load_scenario_json, scenario_json
from TokenOptEnv.scenario_store.index_row import IndexRow, row_of

_INDEX = "index.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNREADABLE = (
    *(zipfile.BadZipFile, LookupError, ValueError, OverflowError, RuntimeError, MemoryError),
    *(EOFError, OSError, LZMAError, zlib.error, struct.error),
)
"""What reading a damaged archive raises, by where the damage is; `ValidationError` is a `ValueError`."""


class PackRow(IndexRow):
    plans_hash: str


class PackIndex(Frozen):
    name: str
    """The split."""
    generator_version: int
    scoring_version: int
    """Of the plans: those of another version state prices that no longer hold."""
    python: str
    """The minor version that executed content was recorded with."""
    scenarios: tuple[PackRow, ...]

    @property
    def content_hash(self) -> str:
        """Of every case and plan in order: equal on any machine that builds the same pack."""
        lines = [f"{row.scenario_id} {row.content_hash} {row.plans_hash}\n" for row in self.scenarios]
        head = f"{self.name} {self.generator_version} {self.scoring_version}\n"
        return sha256("".join([head, *lines]).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class PackEntry:
    """One case as it stands in a pack."""

    row: PackRow
    scenario_json: bytes
    plans_json: bytes


def entry(scenario: Scenario, plans_json: bytes) -> PackEntry:
    row = PackRow(**row_of(scenario).model_dump(), plans_hash=sha256(plans_json).hexdigest())
    return PackEntry(row, scenario_json(scenario), plans_json)


def write(
    file: Path, name: str, generator_version: int, scoring_version: int, python: str, entries: Iterable[PackEntry]
) -> PackIndex:
    """Nobody ever sees half a pack: it is written beside and renamed.

    The bytes of the archive are the compressor's and may differ between machines; the hashes in it do not.
    """
    rows: list[PackRow] = []
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".part")
    with zipfile.ZipFile(draft, "w") as archive:
        for each in entries:
            rows.append(each.row)
            archive.writestr(_member(_scenario_name(each.row.scenario_id)), each.scenario_json)
            archive.writestr(_member(_plans_name(each.row.scenario_id)), each.plans_json)
        index = PackIndex(
            name=name,
            generator_version=generator_version,
            scoring_version=scoring_version,
            python=python,
            scenarios=tuple(rows),
        )
        archive.writestr(_member(_INDEX), index.model_dump_json(indent=1))
    draft.replace(file)
    return index


class Pack:
    """Held in memory as it is on disk: processes forked from this one share no file position."""

    def __init__(self, data: bytes, name: str) -> None:
        self._name = name
        try:
            self._archive = zipfile.ZipFile(BytesIO(data))
            self.index = PackIndex.model_validate_json(self._archive.read(_INDEX))
        except _UNREADABLE:
            raise ScenarioInvalid(f"pack {name!r} is damaged; fetch it again") from None
        self._rows = {row.scenario_id: row for row in self.index.scenarios}

    def __contains__(self, scenario_id: str) -> bool:
        return scenario_id in self._rows

    def scenario(self, scenario_id: str) -> Scenario:
        data = self._checked(_scenario_name(scenario_id), self._row(scenario_id).content_hash)
        return load_scenario_json(data, scenario_id)

    def plans_json(self, scenario_id: str) -> bytes:
        return self._checked(_plans_name(scenario_id), self._row(scenario_id).plans_hash)

    def entry(self, scenario_id: str) -> PackEntry:
        row = self._row(scenario_id)
        data = self._checked(_scenario_name(scenario_id), row.content_hash)
        return PackEntry(row, data, self.plans_json(scenario_id))

    def _row(self, scenario_id: str) -> PackRow:
        if scenario_id not in self._rows:
            raise UnknownName(f"scenario in pack {self._name!r}", scenario_id, self._rows, "camre scenarios list")
        return self._rows[scenario_id]

    def _checked(self, member: str, wanted: str) -> bytes:
        try:
            data = self._archive.read(member)
        except _UNREADABLE:
            data = b""
        if sha256(data).hexdigest() != wanted:
            raise ScenarioInvalid(f"{member!r} in pack {self._name!r} is not what its index says; fetch the pack again")
        return data


def _scenario_name(scenario_id: str) -> str:
    return f"{scenario_id}.json"


def _plans_name(scenario_id: str) -> str:
    return f"{scenario_id}.plans.json"


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_LZMA
    return info
