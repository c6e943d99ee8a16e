"""What every test shares: an import path for `tests.cases`, reproducible hypothesis runs, golden refreshing."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # tests are imported by file, so nothing else makes `tests.cases` importable
    sys.path.insert(0, str(ROOT))

from tests import cases  # noqa: E402
from TokenOptEnv import scenario_store  # noqa: E402
from TokenOptEnv.plans import plan_store  # noqa: E402
from TokenOptEnv.scenario_store import core  # noqa: E402

settings.register_profile(
    "steady", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Where everything is required to run, a skip is a failure."""
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("CAMRE_REQUIRE_ALL") == "1" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, but CAMRE_REQUIRE_ALL=1: {report.longrepr[-1] if report.longrepr else ''}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--refresh-golden", action="store_true", help="write the golden traces instead of comparing")


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A core suite of the toy cases alone."""
    folder = tmp_path_factory.mktemp("core")
    scenario_store.ship({case.scenario_id: case for case in (cases.toy(), cases.patches(), cases.marathon())}, folder)
    return folder


@pytest.fixture
def store(shipped: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, ...]]:
    """A scenario store that holds the toy cases alone; gives their ids."""
    for module in (core, plan_store):
        monkeypatch.setattr(module, "shipped_folder", lambda: shipped)
    _forget()
    yield scenario_store.ids("core")
    _forget()


def _forget() -> None:
    for remembered in (core.index, scenario_store.load, plan_store._shipped):
        remembered.cache_clear()
