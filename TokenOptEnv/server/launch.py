"""Starts uvicorn as this server needs it."""

from __future__ import annotations

import logging
import os
from ipaddress import ip_address
from typing import Any, Final

import uvicorn

from TokenOptEnv.server.protocol import SessionProtocol
from TokenOptEnv.server.settings import Settings

_LOG = logging.getLogger("TokenOptEnv.server")
_GRACE_SECONDS: Final = 10
"""How long a server that is stopped waits for what is under way."""


def serve(settings: Settings) -> None:
    os.environ.update(settings.to_environment())
    if settings.token is None and not _is_loopback(settings.host):
        _LOG.warning("listening on %s without a token: whoever reaches the port is served", settings.host)
    uvicorn.run(
        "TokenOptEnv.server.app:app",
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        log_level="info",
        **protocol_options(settings),
    )


def protocol_options(settings: Settings) -> dict[str, Any]:
    """What uvicorn is told of connections.

    Frames are not compressed: on the same machine or in one rack that costs more than it saves. A frame that is a
    little too large is answered; one far too large ends its connection before it is held in memory.
    """
    return {
        "ws": SessionProtocol,
        "ws_per_message_deflate": False,
        "ws_max_size": 2 * settings.max_message_bytes,
        "ws_ping_interval": settings.ping_seconds,
        "ws_ping_timeout": settings.ping_seconds,
        "timeout_graceful_shutdown": _GRACE_SECONDS,
    }


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
