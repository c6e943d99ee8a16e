"""A real browser for tests, driven over its own protocol: no driver to install, whatever Chromium there is."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PATIENCE_S = 30.0


def binary() -> str:
    """The browser's program; without one the test is skipped, and says so."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(_NAMES)} is installed")
    return found


class Page:
    """One tab. `errors` and `requests` are what it complained about and what it asked the network for."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.errors: list[str] = []
        self.requests: list[str] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": arguments}))
        while True:
            message = json.loads(self._socket.recv(timeout=_PATIENCE_S))
            if message.get("id") == number:
                assert "error" not in message, message["error"]
                return dict(message["result"])
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        told = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.errors.append(str(told["exceptionDetails"].get("exception", {}).get("description")))
            case "Log.entryAdded" if told["entry"]["level"] == "error":
                self.errors.append(told["entry"]["text"])
            case "Runtime.consoleAPICalled" if told["type"] == "error":
                self.errors.append(str(told["args"]))
            case "Network.requestWillBeSent":
                self.requests.append(told["request"]["url"])

    def look(self, width: int, height: int, dark: bool = False) -> None:
        """As on a screen of this size and taste."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, address: str) -> None:
        """A page without a network; it says itself when it is ready, so the one before it, which may be the same, goes
        first."""
        self.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        self.call("Page.navigate", url="about:blank")
        self.until("location.href === 'about:blank'")
        self.call("Page.navigate", url=address)
        self.until("document.body && document.body.dataset.ready === 'yes'")

    def eval(self, expression: str) -> Any:
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, expression: str) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while not self.eval(expression):
            assert time.monotonic() < deadline, f"never came true: {expression}"
            time.sleep(0.02)


@contextmanager
def page(folder: Path) -> Iterator[Page]:
    """A tab of a browser of its own, whose profile lies in `folder`."""
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"]
    line = [binary(), *options, f"--user-data-dir={folder}", "--remote-debugging-port=0", "about:blank"]
    running = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with connect(_tab(folder / "DevToolsActivePort", running), max_size=None) as socket:
            yield Page(socket)
    finally:
        running.kill()
        running.wait(timeout=_PATIENCE_S)


def _tab(port_file: Path, running: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + _PATIENCE_S
    while not port_file.exists() or not port_file.read_text().strip():
        assert running.poll() is None, "the browser ended at once"
        assert time.monotonic() < deadline, "the browser did not start"
        time.sleep(0.05)
    port = port_file.read_text().split()[0]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as reply:
        tabs = json.loads(reply.read())
    return str(next(each["webSocketDebuggerUrl"] for each in tabs if each["type"] == "page"))
