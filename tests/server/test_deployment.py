"""What OpenEnv's tools want: the manifest, the runtime plan, the staged copy, the names that AutoEnv looks for."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
import warnings
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from openenv.auto import AutoAction, AutoEnv
from openenv.auto._discovery import EnvironmentDiscovery
from openenv.cli._cli_utils import validate_env_structure
from openenv.cli._validation import validate_running_environment
from openenv.cli.commands.push import _validate_openenv_directory
from openenv.core import EnvClient
from openenv.validation import Level, Verdict, run_validation
from openenv.validation.graders.runtime import ObservationSchemaGrader, RewardWellFormedGrader, StateContractGrader
from openenv.validation.manifest import ExecutionDeclaration
from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser
from openenv.validation.runtime.collector import collect_runtime_evidence
from openenv.validation.runtime.contracts import load_runtime_plan

from tests.server.live import ROOT, Address
from TokenOptEnv import TokenOptEnvAction, TokenOptEnvObservation, client
from TokenOptEnv.client import TokenOptEnvClient
from TokenOptEnv.server.settings import Settings
from TokenOptEnv.version import VERSION


def test_openenv_finds_nothing_wrong_with_the_running_server(server: Address) -> None:
    report = validate_running_environment(server.url)
    assert report["passed"], report["summary"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What git would hand on: environments beside the sources hold links, and OpenEnv reads no folder with a link."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in names:
        if name and (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    return tmp_path


def test_the_static_validation_passes(checkout: Path) -> None:
    report = run_validation(checkout, max_level=Level.STATIC, skip_build=True)
    assert report.verdict is Verdict.PASS, report.results


@pytest.fixture(scope="module")
def evidence(server: Address) -> SimpleNamespace:
    manifest = OpenEnvYamlParser().parse(ROOT)
    plan = load_runtime_plan(ROOT, manifest.execution)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of websockets, in OpenEnv's collector
        collected = collect_runtime_evidence(server.url, plan, episode_timeout_s=30)
    return SimpleNamespace(manifest=manifest, plan=plan, runtime_evidence=collected)


@pytest.mark.parametrize("grader", [RewardWellFormedGrader, ObservationSchemaGrader, StateContractGrader])
def test_the_runtime_plan_keeps_openenvs_contracts(evidence: SimpleNamespace, grader: Any) -> None:
    assert evidence.runtime_evidence.failure_reason is None
    result = grader().run(evidence)
    assert result.status.value == "pass", result.evidence


def test_the_runtime_plan_is_played_to_its_end_and_only_its_bad_action_is_refused(evidence: SimpleNamespace) -> None:
    steps = [
        json.loads(exchange.response_json)["data"]
        for exchange in evidence.runtime_evidence.exchanges
        if exchange.operation == "step"
    ]
    assert len(steps) == len(evidence.plan.actions)
    assert [step["done"] for step in steps] == [False] * (len(steps) - 1) + [True]
    refused = [step["observation"]["last_tool_result"]["refusal"]["value"] for step in steps if _is_refused(step)]
    assert refused == ["no-such-artifact"]


def _is_refused(step: dict[str, Any]) -> bool:
    return bool(step["observation"]["last_tool_result"]["status"] == "refused")


def test_the_manifest_is_the_same_in_the_root_and_in_the_package_and_names_this_version() -> None:
    text = (ROOT / "openenv.yaml").read_text(encoding="utf-8")
    assert (files("TokenOptEnv") / "openenv.yaml").read_text(encoding="utf-8") == text
    manifest = yaml.safe_load(text)
    assert manifest["version"] == VERSION
    assert manifest["validation"]["execution"]["probe_path"] == ExecutionDeclaration().probe_path


def test_autoenv_finds_the_client_and_its_models() -> None:
    found = EnvironmentDiscovery()._discover_installed_packages()["token_opt"]
    assert found.get_client_class() is TokenOptEnvClient is client.TokenOptEnv
    assert found.get_action_class() is TokenOptEnvAction is client.TokenOptAction
    assert found.get_observation_class() is TokenOptEnvObservation is client.TokenOptObservation


@pytest.mark.parametrize("name", ["token_opt_env", "token-opt-env", "token_opt"])
def test_autoaction_gives_our_action_by_any_spelling(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # OpenEnv keeps what it found in the user's cache
    monkeypatch.setattr("openenv.auto._discovery._global_discovery", None)
    assert AutoAction.from_env(name) is TokenOptEnvAction
    assert AutoEnv.get_env_class(name) is TokenOptEnvClient


def test_the_client_can_be_made_from_an_image() -> None:
    assert TokenOptEnvClient.from_docker_image.__func__ is EnvClient.from_docker_image.__func__


def test_the_staged_copy_passes_the_structure_check_of_push(staged: Path) -> None:
    validate_env_structure(staged)
    name, _ = _validate_openenv_directory(staged)
    assert name == "token_opt_env"
    assert run_validation(staged, max_level=Level.STATIC, skip_build=True).verdict is Verdict.PASS


def test_the_staged_copy_serves_itself(staged: Path, small: Address) -> None:
    with TokenOptEnvClient(base_url=small.url).sync() as env:
        assert env.reset(split="core", index=0).observation.step == 0
    loaded = Path(f"/proc/{small.pid}/cwd").resolve()
    assert loaded == staged.resolve()


def test_the_staged_copy_has_the_doors_and_no_rubbish(staged: Path) -> None:
    assert runpy.run_path(str(staged / "client.py"))["TokenOptEnvClient"] is TokenOptEnvClient
    assert runpy.run_path(str(staged / "models.py"))["TokenOptEnvAction"] is TokenOptEnvAction
    links = [path for path in staged.rglob("*") if path.is_symlink()]
    assert links == []
    assert {path.name for path in staged.iterdir()} == {*stage_names(), "__init__.py", "client.py", "models.py"}


def stage_names() -> tuple[str, ...]:
    names: tuple[str, ...] = runpy.run_path(str(ROOT / "deploy" / "stage.py"))["STAGED"]
    return names


def test_a_folder_with_something_in_it_is_not_staged_over(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    command = [sys.executable, str(ROOT / "deploy" / "stage.py"), str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_image_runs_without_root_pinned_and_watched() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    last_stage = lines[max(number for number, line in enumerate(lines) if line.startswith("FROM")) :]
    assert any(line.startswith("USER ") and "root" not in line for line in last_stage)
    assert any(line.startswith("HEALTHCHECK") for line in last_stage)
    assert any("-c constraints.txt" in line for line in lines)
    copied = {word for line in lines if line.startswith("COPY") and "--from" not in line for word in line.split()[1:-1]}
    assert copied <= {path.name for path in ROOT.iterdir()}
    kept = {
        line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")
    }
    assert copied == kept


def test_every_variable_is_documented_with_its_default() -> None:
    page = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")
    for name, value in Settings().to_environment().items():
        default = f"`{value}`" if value else "unset"
        assert f"| `{name}` | {default} |" in page
