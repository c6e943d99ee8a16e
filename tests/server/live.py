"""Running servers: real uvicorn on a free port of loopback, in a process or in a thread of this one."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from TokenOptEnv import LocalEnv, TokenOptEnvAction, TokenOptEnvObservation, scenario_store
from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.plans import reference_plan
from TokenOptEnv.server import launch
from TokenOptEnv.server.app import build_app
from TokenOptEnv.server.settings import Settings
from TokenOptEnv.traces import Trace

ROOT = Path(__file__).resolve().parent.parent.parent
CAPACITY = 8
KAFKA = "incident-medium-kafka-backpressure"


@dataclass(frozen=True, slots=True)
class Address:
    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def resident_kib(self) -> int:
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1])

    def connect(self, **headers: str) -> ClientConnection:
        where = f"ws://127.0.0.1:{self.port}/ws"
        return connect(where, max_size=None, proxy=None, compression=None, additional_headers=headers)


@contextmanager
def process(application: str, folder: Path = ROOT, **environment: str) -> Iterator[Address]:
    command = [sys.executable, "-m", "uvicorn", application, "--host", "127.0.0.1", "--port", "0", "--no-access-log"]
    started = subprocess.Popen(
        command,
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment, "PYTHONUNBUFFERED": "1"},
    )
    said: list[str] = []
    with started:
        assert started.stderr is not None
        drain = threading.Thread(target=said.extend, args=(started.stderr,), daemon=True)
        try:
            for line in started.stderr:
                said.append(line)
                if found := re.search(r"running on http://[\d.]+:(\d+)", line):
                    break
            else:
                raise AssertionError("".join(said))
            drain.start()
            yield Address(int(found[1]), started.pid)
        finally:
            started.terminate()
            try:
                started.wait(timeout=20)
            finally:
                started.kill()
                if drain.is_alive():
                    drain.join(timeout=5)


@contextmanager
def thread(settings: Settings) -> Iterator[Address]:
    """In this process, so that a test can reach into it."""
    config = uvicorn.Config(
        build_app(settings),
        host="127.0.0.1",
        port=0,
        log_config=None,
        **launch.protocol_options(settings),
    )
    running = uvicorn.Server(config)
    worker = threading.Thread(target=lambda: asyncio.run(running.serve()), daemon=True)
    worker.start()
    wait_until(lambda: running.started)
    try:
        yield Address(running.servers[0].sockets[0].getsockname()[1], os.getpid())
    finally:
        running.should_exit = True
        worker.join(timeout=20)
        gc.unfreeze()  # a server that starts freezes what there is; this process lives on without it
        assert not worker.is_alive(), "the server did not end"


def wait_until(holds: Any, seconds: float = 20.0) -> None:
    ends_at = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends_at, "it never came true"
        time.sleep(0.02)


def ask(socket: ClientConnection, message: Any) -> Any:
    """Send a frame (text and bytes as they are, anything else as JSON) and read the answer.

    A session that is refused is closed behind its error, which may be before we have sent anything.
    """
    with suppress(ConnectionClosed):
        socket.send(message if isinstance(message, str | bytes) else json.dumps(message))
    return json.loads(socket.recv(timeout=20))


def plan(scenario_id: str, seed: int) -> tuple[TokenOptEnvAction, ...]:
    return reference_plan(scenario_store.load(scenario_id), seed, EpisodeConfig()).actions


def played(scenario_id: str, seed: int) -> tuple[list[TokenOptEnvObservation], Trace]:
    """The reference plan, in this process without a server."""
    env = LocalEnv()
    seen = [env.reset(scenario_id=scenario_id, seed=seed)]
    trace = Trace(seen[0])
    for action in plan(scenario_id, seed):
        seen.append(env.step(action))
        trace.add(action, seen[-1])
    return seen, trace
