"""The server's tests need OpenEnv. Without it they are skipped with the reason, or fail where nothing may be."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.server.live import Address

_REASON = "OpenEnv is not installed; install it: pip install -e '.[server]'"


class _WithoutOpenEnv(pytest.Module):
    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        if os.environ.get("CAMRE_REQUIRE_ALL") == "1":
            pytest.fail(_REASON, pytrace=False)
        pytest.skip(_REASON, allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    if find_spec("openenv") is None:
        return _WithoutOpenEnv.from_parent(parent, path=module_path)
    return None


@pytest.fixture(scope="session")
def server() -> Iterator[Address]:
    """The root door, in a process of its own, as `uvicorn server.app:app` starts it."""
    from tests.server.live import process

    with process("server.app:app") as address:
        yield address


@pytest.fixture(scope="session")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `openenv push` would be given."""
    from tests.server.live import ROOT

    folder = tmp_path_factory.mktemp("deploy") / "staged"
    command = [sys.executable, str(ROOT / "deploy" / "stage.py"), str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return folder


@pytest.fixture(scope="session")
def small(staged: Path) -> Iterator[Address]:
    """The staged copy, served with few slots."""
    from tests.server.live import CAPACITY, process

    with process("server.app:app", folder=staged, CAMRE_CAPACITY=str(CAPACITY)) as address:
        yield address
