"""Generated cases, kept on disk so that each is generated once.

A file is written under a name of its own and then renamed, so nobody ever reads half of one; many processes and
threads may build the same case at once, and the last rename wins with the same bytes. What is read is checked
against its hash, and built anew when it is bad. The folder is `CAMRE_CACHE_DIR`, kept under a size.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.scenario import Scenario, dump_scenario, load_scenario
from TokenOptEnv.scenario_store.splits import Case, generate
from TokenOptEnv.task_defs.generation import GENERATOR_VERSION

_MOST_BYTES = 2_000_000_000
_DIGEST_BYTES = 32
_LOOK_EVERY = 64
"""The folder's size is looked at when one case of so many is written."""
_SUFFIX = ".bin"
_DRAFT_SUFFIX = ".draft"


def folder() -> Path:
    given = os.environ.get("CAMRE_CACHE_DIR")
    return Path(given) if given else Path.home() / ".cache" / "camre"


def load(case: Case) -> Scenario:
    file = folder() / _name(case)
    return _kept(file) or _made(case, file)


def _kept(file: Path) -> Scenario | None:
    """What is used is marked as used, so that what nobody uses is dropped first."""
    try:
        data = file.read_bytes()
        digest, body = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
        if sha256(body).digest() != digest:
            return None
        scenario = load_scenario(body, file.name)
    except (OSError, ScenarioInvalid):
        return None
    with suppress(OSError):
        os.utime(file)
    return scenario


def _made(case: Case, file: Path) -> Scenario:
    scenario = generate(case)
    _keep(file, scenario)
    if case.number % _LOOK_EVERY == 0:
        _shrink()
    return scenario


def _name(case: Case) -> str:
    """Executed content is byte-stable within one Python minor version, so that is part of the name."""
    python = f"py{sys.version_info.major}{sys.version_info.minor}"
    return f"{case.family}/v{GENERATOR_VERSION}-{python}/{case.number % 100:02d}/{case.scenario_id}{_SUFFIX}"


def _keep(file: Path, scenario: Scenario) -> None:
    """A cache that cannot be written (full disk, no rights) costs time and nothing else."""
    body = dump_scenario(scenario)
    draft = file.with_name(f"{file.stem}.{os.getpid()}-{threading.get_ident()}{_DRAFT_SUFFIX}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(sha256(body).digest() + body)
        draft.replace(file)
    except OSError:
        with suppress(OSError):
            draft.unlink()


def _shrink() -> None:
    """Drop what was used longest ago, drafts of killed processes included. Others may be dropping the same."""
    found: list[tuple[int, int, Path]] = []
    for file in folder().rglob("*"):
        with suppress(OSError):
            status = file.stat()
            if file.suffix in (_SUFFIX, _DRAFT_SUFFIX):
                found.append((status.st_mtime_ns, status.st_size, file))
    total = sum(size for _, size, _ in found)
    for _, size, file in sorted(found):
        if total <= _MOST_BYTES:
            return
        with suppress(OSError):
            file.unlink()
        total -= size
