"""Who is served at all: asked once for each request and each handshake, before anything else is looked at.

    rate      an address that asks too often is told to come back later
    origin    a page of another host, open in somebody's browser, is not let through to a server beside it
    token     where there is one, only who knows it

Only browsers send an origin, so agents never meet that rule. `/health` is open: it says that the server lives.
"""

from __future__ import annotations

import hmac
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from TokenOptEnv.server.rate import Buckets
from TokenOptEnv.server.settings import ANY_ORIGIN, Settings

_OPEN: Final = "/health"
_CHALLENGE: Final = (
    (b"www-authenticate", b"Bearer"),
    (b"www-authenticate", b'Basic realm="CAMRE: any name, and the token as password"'),
)


class Access:
    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._token = None if settings.token is None else settings.token.encode()
        self._origins = frozenset(settings.origins)
        self._rate = Buckets(settings.messages_per_second) if settings.messages_per_second else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = None
        if scope["type"] in ("http", "websocket") and scope["path"] != _OPEN:
            refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await refusal(scope, receive, send)
        else:
            await WebSocket(scope, receive, send).send_denial_response(refusal)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        if self._rate is not None and not self._rate.is_due(_address(scope)):
            return _told(429, "too many requests; come back in a second", [(b"retry-after", b"1")])
        origin = headers.get("origin")
        if origin is not None and not self._is_welcome(origin.lower(), headers.get("host", ""), scope):
            return _told(403, "a page of another origin; list it in CAMRE_ORIGINS to let it in")
        if self._token is not None and not _knows(self._token, headers.get("authorization", "")):
            return _told(401, "a token is needed; send it as: Authorization: Bearer TOKEN", _CHALLENGE)
        return None

    def _is_welcome(self, origin: str, host: str, scope: Scope) -> bool:
        """A page that this server served, or one of a listed origin.

        A name that was made to point here is the host of its own page. On loopback names are therefore not believed,
        but for the machine's own; an address cannot be made to point elsewhere.
        """
        if origin in self._origins or ANY_ORIGIN in self._origins:
            return True
        if origin.partition("://")[2] != host.lower():
            return False
        return _cannot_be_redirected(host) or not _is_loopback(_listening(scope))


def _told(status: int, detail: str, headers: Iterable[tuple[bytes, bytes]] = ()) -> JSONResponse:
    response = JSONResponse({"detail": detail}, status)
    response.raw_headers.extend(headers)
    return response


def _knows(token: bytes, authorization: str) -> bool:
    """As a bearer's, or as the password that a browser asks for. Compared in a time that tells nothing."""
    scheme, _, said = authorization.partition(" ")
    match scheme.lower():
        case "bearer":
            given = said.strip().encode()
        case "basic":
            try:
                given = b64decode(said.strip(), validate=True).partition(b":")[2]
            except (NotBase64, ValueError):
                given = b""
        case _:
            given = b""
    return hmac.compare_digest(token, given)


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""


def _listening(scope: Scope) -> str:
    server = scope.get("server")
    return server[0] if server else ""


def _cannot_be_redirected(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    return name == "localhost" or name.endswith(".localhost") or _parsed(name) is not None


def _is_loopback(address: str) -> bool:
    parsed = _parsed(address)
    return parsed is not None and parsed.is_loopback


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(address)
    except ValueError:
        return None
