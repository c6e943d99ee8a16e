"""Starts uvicorn as this server needs it."""

from __future__ import annotations

import os

import uvicorn

from TokenOptEnv.server.settings import Settings


def serve(settings: Settings) -> None:
    """Frames are not compressed: on the same machine or in one rack that costs more than it saves."""
    os.environ.update(settings.to_environment())
    uvicorn.run(
        "TokenOptEnv.server.app:app",
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        ws_per_message_deflate=False,
        ws_ping_interval=settings.ping_seconds,
        ws_ping_timeout=settings.ping_seconds,
        log_level="info",
    )
