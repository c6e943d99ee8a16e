"""The least that a server of the bench can be: every state and every observation is the same few bytes.

What the bench does when a server dies or hangs does not depend on what was served, and this one starts at once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

APPLICATION = ("tests.server.light_app:app", "--app-dir", str(Path(__file__).resolve().parent.parent.parent))
"""As uvicorn is told of it."""
Message = dict[str, Any]


async def app(
    scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
) -> None:
    if scope["type"] == "lifespan":
        for part in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{part}.complete"})
        return
    await receive()
    await send({"type": "websocket.accept"})
    while (asked := await receive())["type"] == "websocket.receive":
        kind = "state" if '"state"' in asked["text"] else "observation"
        await send({"type": "websocket.send", "text": f'{{"type":"{kind}"}}'})
