"""A chat server that does as it is told: answers rightly, wrongly, late, in part, or not at all.

It speaks real HTTP on the loopback. Each request takes the next step of the script; when the script is over, the
usual step answers. What was asked is kept, headers included.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """What becomes of one request."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    promised_bytes: int | None = None
    """A length to state that is not the body's own."""
    wait_s: float = 0.0
    """Before the first byte."""
    drip_s: float = 0.0
    """Before each byte."""


@dataclass(frozen=True)
class Asked:
    headers: dict[str, str]
    body: Body

    @property
    def prompt(self) -> str:
        return "\n".join(message["content"] for message in self.body["messages"])


Usual = Callable[[Body], Step]


def said(
    content: object,
    prompt_tokens: int = 900,
    completion_tokens: int = 40,
    cached_tokens: int = 0,
    reasoning_tokens: int = 0,
    **changes: Any,
) -> Step:
    """A whole chat completion. Content that is no text is written as JSON."""
    usage = {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "prompt_tokens_details": {"cached_tokens": cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": reasoning_tokens},
    }
    text = content if isinstance(content, str) else json.dumps(content)
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    reply: Body = {"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage, **changes}
    return Step(body=json.dumps(reply).encode())


class LiveServer:
    def __init__(self, usual: Usual, script: list[Step]) -> None:
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self._usual = usual
        self._script = list(script)
        self._turn = threading.Lock()
        self._at_once = 0
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with server._under_way(Asked(dict(self.headers), body)) as step:
                    time.sleep(step.wait_s)
                self._send(step)

            def _send(self, step: Step) -> None:
                length = len(step.body) if step.promised_bytes is None else step.promised_bytes
                try:
                    self.send_response(step.status)
                    for name, value in {"Content-Length": str(length), **step.headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    for part in [step.body] if not step.drip_s else [step.body[at : at + 1] for at in range(length)]:
                        time.sleep(step.drip_s)
                        self.wfile.write(part)
                        self.wfile.flush()
                except (BrokenPipeError, ConnectionResetError):
                    pass
                self.close_connection = True

            def log_message(self, *ignored: object) -> None:
                pass

        return Handler

    @contextmanager
    def _under_way(self, asked: Asked) -> Iterator[Step]:
        with self._turn:
            self.asked.append(asked)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            step = self._script.pop(0) if self._script else self._usual(asked.body)
        try:
            yield step
        finally:
            with self._turn:
                self._at_once -= 1

    def serve(self) -> None:
        self._http.serve_forever(poll_interval=0.01)

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@contextmanager
def serving(usual: Usual, *script: Step) -> Iterator[LiveServer]:
    server = LiveServer(usual, list(script))
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()
