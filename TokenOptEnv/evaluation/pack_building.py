"""Building a pack: every case generated and planned, each kept as soon as it is finished.

A case is a pure function of its number and a plan one of the case, so it does not matter who builds which, in which
order, or whether somebody was killed in between: what is kept in the work folder is what would be built again. The
folder's name holds a fingerprint of everything that cases and plans are made by, so that nothing built by other
sources is ever taken up.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from TokenOptEnv.errors import BadInput, CamreError, ScenarioInvalid
from TokenOptEnv.evaluation import pool
from TokenOptEnv.plans.stored_plans import dump_plans, make_stored_plans
from TokenOptEnv.scenario_store import pack_archive, train_cache
from TokenOptEnv.scenario_store.pack_archive import Pack, PackEntry, PackIndex
from TokenOptEnv.scenario_store.splits import Case, case_at, generate, split_size
from TokenOptEnv.task_defs.generation import GENERATOR_VERSION, Split
from TokenOptEnv.version import SCORING_VERSION

_ABOVE_PLANS = (
    *("adapters", "backends", "calibration", "cli", "client.py", "data", "evaluation", "local_env.py"),
    *("policies", "server", "studio"),
)
"""Rooms that neither a case nor a plan can depend on: the import contract forbids it."""
_KEPT_SUFFIX = ".zip"


@dataclass(frozen=True, slots=True)
class Built:
    """One case is done: kept, or found impossible."""

    scenario_id: str
    fault: str | None = None


class WorkFolder:
    """Finished cases of one build, each a pack of one."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def entry(self, case: Case) -> PackEntry | None:
        """None where the case is not finished, or its file is damaged."""
        try:
            return Pack(self._file(case).read_bytes(), case.scenario_id).entry(case.scenario_id)
        except (OSError, CamreError):
            return None

    def keep(self, case: Case, entry: PackEntry) -> None:
        _write(self._file(case), case.scenario_id, (entry,))

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def _file(self, case: Case) -> Path:
        return self.path / f"{case.scenario_id}{_KEPT_SUFFIX}"


def cases(split: Split, count: int | None) -> tuple[Case, ...]:
    """The first so many cases of a split; all of them when no number is given."""
    size = split_size(split)
    if count is None and split is Split.TRAIN:
        raise BadInput(f"split 'train' has {size} cases; say how many: --count")
    wanted = size if count is None else count
    if not 1 <= wanted <= size:
        raise BadInput(f"{wanted} cases cannot be built; split {split.value!r} has 1 to {size}")
    return tuple(case_at(split, place) for place in range(wanted))


def work_folder(split: Split) -> WorkFolder:
    return WorkFolder(train_cache.folder() / "build" / f"{split.value}-{source_fingerprint()[:16]}")


def unfinished(wanted: Sequence[Case], folder: WorkFolder) -> tuple[Case, ...]:
    return tuple(case for case in wanted if folder.entry(case) is None)


def build(wanted: Sequence[Case], folder: WorkFolder, workers: int) -> Iterator[Built]:
    """Each case as it is done, in no particular order."""
    folder.path.mkdir(parents=True, exist_ok=True)
    yield from pool.results(partial(_built, folder.path), wanted, workers)


def generate_into_cache(wanted: Sequence[Case], workers: int) -> Iterator[Built]:
    """Train has no pack: its cases are kept where a reader looks for them, and planned when they are played."""
    yield from pool.results(_cached, wanted, workers)


def assemble(file: Path, name: str, wanted: Sequence[Case], folder: WorkFolder) -> PackIndex:
    """One pack of what is kept, in the order of the split."""
    return _write(file, name, (_finished(case, folder) for case in wanted))


def differences(wanted: Sequence[Case], folder: WorkFolder, pack: Pack) -> list[str]:
    """A line for every case that is not the same in the pack as it is built today."""
    shipped = {row.scenario_id: row for row in pack.index.scenarios}
    lines = []
    for case in wanted:
        row, old = _finished(case, folder).row, shipped.get(case.scenario_id)
        if old is None:
            lines.append(f"{case.scenario_id}: is not in the pack")
        elif row.content_hash != old.content_hash:
            lines.append(f"{case.scenario_id}: its content is {old.content_hash[:12]}, built {row.content_hash[:12]}")
        elif row.plans_hash != old.plans_hash:
            lines.append(f"{case.scenario_id}: its plans are {old.plans_hash[:12]}, built {row.plans_hash[:12]}")
    return lines


def source_fingerprint() -> str:
    """Of every file of the package that a case or a plan may depend on, the interpreter and the vocabularies."""
    digest = sha256(f"{_python()} {version('splintr-rs')}".encode())
    for name, data in _sources(files("TokenOptEnv"), ""):
        digest.update(f"\n{name} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()


def _sources(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for each in sorted(folder.iterdir(), key=lambda entry: entry.name):
        name = f"{prefix}{each.name}"
        if name in _ABOVE_PLANS or each.name == "__pycache__":
            continue
        if each.is_dir():
            yield from _sources(each, f"{name}/")
        else:
            yield name, each.read_bytes()


def _built(folder: Path, case: Case) -> Built:
    try:
        scenario = generate(case)
        made = pack_archive.entry(scenario, dump_plans(make_stored_plans(scenario)))
    except CamreError as fault:
        return Built(case.scenario_id, str(fault))
    WorkFolder(folder).keep(case, made)
    return Built(case.scenario_id)


def _cached(case: Case) -> Built:
    try:
        train_cache.load(case)
    except CamreError as fault:
        return Built(case.scenario_id, str(fault))
    return Built(case.scenario_id)


def _finished(case: Case, folder: WorkFolder) -> PackEntry:
    entry = folder.entry(case)
    if entry is None:
        raise ScenarioInvalid(f"{case.scenario_id}: is not finished; start the same command again")
    return entry


def _write(file: Path, name: str, entries: Sequence[PackEntry] | Iterator[PackEntry]) -> PackIndex:
    return pack_archive.write(file, name, GENERATOR_VERSION, SCORING_VERSION, _python(), entries)


def _python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"
