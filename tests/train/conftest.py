"""The training recipes, on a tiny random model. Without the environment of `make test-train` none is collected."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
collect_ignore_glob = [] if find_spec("torch") else ["test_*.py"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What only a GPU can show is left out where there is none: nobody can install one."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and not _has_gpu():
        config.hook.pytest_deselected(items=marked)
        items[:] = [item for item in items if item not in marked]


def _has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """An adapter begins with random numbers: the same ones, whichever tests ran before."""
    import torch

    torch.manual_seed(0)


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def run() -> Run:
    """A recipe, as it is called from a shell: one thread, because threads that wait for each other are slower here."""

    def called(module: str, *arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command(module, *arguments), cwd=ROOT, env=environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return called


def command(module: str, *arguments: object) -> list[str]:
    return [sys.executable, "-m", f"training.{module}", *map(str, arguments)]


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="session")
def tiny(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base") / "tiny"
    run("tiny_model", "--out", folder)
    return folder


@pytest.fixture(scope="session")
def data(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A box of one case, with traces of tutors on it."""
    place = tmp_path_factory.mktemp("data") / "train"
    run("collect", "--first", 30, "--easy", 1, "--processes", 1, "--out", place)
    return place


@pytest.fixture(scope="session")
def small(tiny: Path, data: Path) -> list[object]:
    """Options that keep a recipe to seconds."""
    return [
        *("--base", tiny, "--data", data, "--rank", 4, "--processes", 1, "--device", "cpu"),
        *("--action-tokens", 12, "--tree-tokens", 3_000, "--batch-tokens", 6_000, "--checks", 1),
    ]
