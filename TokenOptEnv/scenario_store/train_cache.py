"""Generated cases, kept on disk so that each is generated once.

A file is written under a name of its own and then renamed, so nobody ever reads half of one; many processes
may build the same case at once, and the last rename wins with the same bytes. What is read is checked
against its hash, and built anew when it is bad. The folder is `CAMRE_CACHE_DIR`, kept under a size.
"""

from __future__ import annotations

import os
import sys
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


def folder() -> Path:
    given = os.environ.get("CAMRE_CACHE_DIR")
    return Path(given) if given else Path.home() / ".cache" / "camre"


def load(case: Case) -> Scenario:
    file = folder() / _name(case)
    try:
        data = file.read_bytes()
        digest, body = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
        if sha256(body).digest() == digest:
            return load_scenario(body, file.name)
    except (OSError, ScenarioInvalid):
        pass
    scenario = generate(case)
    _keep(file, scenario)
    if case.number % _LOOK_EVERY == 0:
        _shrink()
    return scenario


def _name(case: Case) -> str:
    """Executed content is byte-stable within one Python minor version, so that is part of the name."""
    python = f"py{sys.version_info.major}{sys.version_info.minor}"
    return f"{case.family}/v{GENERATOR_VERSION}-{python}/{case.number % 100:02d}/{case.scenario_id}.bin"


def _keep(file: Path, scenario: Scenario) -> None:
    """A cache that cannot be written (full disk, no rights) costs time and nothing else."""
    body = dump_scenario(scenario)
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(sha256(body).digest() + body)
        draft.replace(file)
    except OSError:
        with suppress(OSError):
            draft.unlink()


def _shrink() -> None:
    """Drop the files that were used longest ago."""
    files = [(file.stat().st_atime_ns, file.stat().st_size, file) for file in folder().rglob("*.bin")]
    total = sum(size for _, size, _ in files)
    for _, size, file in sorted(files, key=lambda each: each[0]):
        if total <= _MOST_BYTES:
            return
        file.unlink(missing_ok=True)
        total -= size
