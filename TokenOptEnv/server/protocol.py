"""The WebSocket protocol of uvicorn, with one difference: a peer that answers no ping is cut off.

Uvicorn lets such a connection close by itself, which waits until everything that was written has been taken. A peer
that has stopped reading takes nothing, and would keep its slot for ever.
"""

from __future__ import annotations

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol


class SessionProtocol(WebSocketsSansIOProtocol):
    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()
