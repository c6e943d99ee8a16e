"""One request to a server over HTTP, from sending to the last byte, and what became of it.

The key is sent and nothing else: it stands in no setting, file, log or error. A server's own error text may repeat
the key or the prompt, so it is never read; redirects, which would carry the key elsewhere, are not followed.
"""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from TokenOptEnv.backends.live_settings import KEY
from TokenOptEnv.errors import BadInput

_MOST_BYTES: Final = 4_000_000
_CHUNK_BYTES: Final = 65_536
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_PRINTABLE: Final = re.compile(r"[\x21-\x7e]+")


class EndpointFault(Exception):
    """What went wrong, in words of our own."""


class Turned(EndpointFault):
    """The server answered with an error: nothing was generated, and nothing is owed."""

    def __init__(self, status: int, retry_after_s: float | None) -> None:
        super().__init__(f"it answered {status}")
        self.status = status
        self.retry_after_s = retry_after_s


class Unreachable(EndpointFault):
    """Nothing was sent."""


class Lost(EndpointFault):
    """It was sent, and no whole reply came back: it may have to be paid all the same."""


class Unusable(Lost):
    """A whole reply came back, and another would be no better."""


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *ignored: Any) -> None:
        return None


class Endpoint:
    def __init__(self, url: str, key: str | None, timeout_s: float) -> None:
        self._url = checked_address(url).rstrip("/") + "/chat/completions"
        self._key = _checked_key(key)
        self._timeout_s = timeout_s
        direct = urlsplit(url).hostname in _LOOPBACK
        self._opener = build_opener(_NoRedirects, *([ProxyHandler({})] if direct else []))

    def post(self, body: dict[str, Any]) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        data = self._exchanged(Request(self._url, json.dumps(body).encode(), headers, method="POST"))
        if self._key and self._key.encode() in data:
            raise Unusable("its reply repeats the key")
        try:
            reply = json.loads(data)
        except (ValueError, RecursionError):
            raise Lost("its reply is no JSON") from None
        if not isinstance(reply, dict):
            raise Lost("its reply is no JSON object")
        return reply

    def _exchanged(self, request: Request) -> bytes:
        deadline_s = time.monotonic() + self._timeout_s
        try:
            with self._opener.open(request, timeout=self._timeout_s) as reply:
                return _whole_body(reply, deadline_s)
        except HTTPError as fault:
            fault.close()
            raise Turned(fault.code, _retry_after_s(fault.headers.get("Retry-After"))) from None
        except TimeoutError:
            raise Lost(f"it took more than {self._timeout_s:g} s") from None
        except URLError as fault:
            if isinstance(fault.reason, TimeoutError):
                raise Lost(f"it took more than {self._timeout_s:g} s") from None
            raise Unreachable("it could not be reached") from None
        except (HTTPException, OSError):
            raise Lost("its reply broke off") from None


def _whole_body(reply: Any, deadline_s: float) -> bytes:
    """In chunks: a socket's own timeout starts anew with every byte that drips in."""
    parts: list[bytes] = []
    size = 0
    while chunk := reply.read1(_CHUNK_BYTES):
        parts.append(chunk)
        size += len(chunk)
        if size > _MOST_BYTES:
            raise Lost(f"its reply has more than {_MOST_BYTES} bytes")
        if time.monotonic() > deadline_s:
            raise TimeoutError
    expected = reply.headers.get("Content-Length")
    if expected is not None and expected.isdigit() and int(expected) > size:
        raise Lost("its reply broke off")
    return b"".join(parts)


def checked_address(url: str) -> str:
    """An address with a secret in it would end up wherever addresses are written down."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput(
            "the address of a live backend begins with http:// or https://, like live:http://127.0.0.1:8000/v1"
        )
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise BadInput(f"the address of a live backend holds no password, query or fragment; a key goes into {KEY}")
    return url


def _checked_key(key: str | None) -> str | None:
    """Checked here, because what refuses it later would repeat it."""
    if key is None or not key.strip():
        return None
    if not _PRINTABLE.fullmatch(key.strip()):
        raise BadInput(f"the key in {KEY} has characters that no key has; set it again")
    return key.strip()


def _retry_after_s(text: str | None) -> float | None:
    """Seconds, or a date."""
    if text is None:
        return None
    if re.fullmatch(r"\d{1,9}(\.\d+)?", text.strip()):
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
