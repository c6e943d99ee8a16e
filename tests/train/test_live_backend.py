"""A real language model behind a real server: an episode played on it ends, and its recording replays to the byte."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

import pytest

from tests.cases import TOY
from TokenOptEnv.backends.live_settings import KEY
from TokenOptEnv.backends.recording import read
from TokenOptEnv.cli.main import run
from TokenOptEnv.evaluation.recorded import read_trace
from TokenOptEnv.evaluation.run_folder import trace_path
from TokenOptEnv.evaluation.suite import Job

ROOT = Path(__file__).parents[2]
_SERVING = ("fastapi", "openai", "requests", "uvicorn")
_MISSING = [name for name in _SERVING if find_spec(name) is None]
_BEGINS_WITHIN_S = 240.0

pytestmark = pytest.mark.skipif(bool(_MISSING), reason=f"transformers serve needs {', '.join(_MISSING)}; install them")


class Served(NamedTuple):
    url: str
    name: str


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The one that `training.base_model` made here before, or a new one."""
    made = ROOT / "runs" / "base" / "smollm2-135m"
    if (made / "model.safetensors").is_file():
        return made
    folder = tmp_path_factory.mktemp("base") / "smollm2-135m"
    command = [sys.executable, "-m", "training.base_model", "--out", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True)
    return folder


@pytest.fixture(scope="module")
def served(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    port = _free_port()
    command = [str(Path(sys.executable).parent / "transformers"), "serve", str(base), "--device", "cpu"]
    command += ["--dtype", "float32", "--host", "127.0.0.1", "--port", str(port)]
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with log.open("wb") as lines:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
        server = subprocess.Popen(command, stdout=lines, stderr=lines, env=environment)
        try:
            _wait_for(f"http://127.0.0.1:{port}/health", server, log)
            yield Served(f"http://127.0.0.1:{port}/v1", str(base))
        finally:
            server.kill()
            server.wait()


def _free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    opener, end = build_opener(ProxyHandler({})), time.monotonic() + _BEGINS_WITHIN_S
    while True:
        try:
            opener.open(url, timeout=5).close()
            return
        except (URLError, OSError):
            alive = server.poll() is None and time.monotonic() < end
            assert alive, log.read_text(errors="replace")[-2_000:]
            time.sleep(0.5)


@pytest.mark.usefixtures("store")
def test_a_run_on_a_real_model_ends_and_its_recording_replays_to_the_same_bytes(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY, raising=False)
    for name, value in (("REPLY_TOKENS", "50"), ("REASONING_ROOM", "0"), ("TIMEOUT_S", "300")):
        monkeypatch.setenv(f"CAMRE_LIVE_{name}", value)
    live, again = tmp_path / "live", tmp_path / "again"
    chosen = ["eval", "--policy", "cheapest", "--scenario", TOY, "--seeds", "0"]
    assert run([*chosen, "--backend", f"live:{served.url}", "--served-as", served.name, "--out", str(live)]) == 0
    answers = read(live / "answers.jsonl").answers.values()
    assert answers
    for answer in answers:
        assert answer.counted_by == "server" and answer.prompt_tokens > 100 and answer.completion_tokens > 0
    job = Job("cheapest", TOY, 0)
    steps = read_trace(trace_path(live, job)).steps
    entries = [entry for step in steps for entry in step.entries if entry.who == "worker"]
    assert {entry.fresh_tokens + entry.cached_tokens for entry in entries} == {each.prompt_tokens for each in answers}
    assert run([*chosen, "--backend", f"recorded:{live / 'answers.jsonl'}", "--out", str(again)]) == 0
    assert trace_path(again, job).read_bytes() == trace_path(live, job).read_bytes()
    assert (again / "results.jsonl").read_bytes() == (live / "results.jsonl").read_bytes()
    assert run(["verify-run", str(live), "--workers", "1"]) == 0
