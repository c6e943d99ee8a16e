"""What the server is told from outside: the one place that reads environment variables.

`docs/server.md` has the same table for people; a test holds the two together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from TokenOptEnv.errors import BadInput

_TRUE: Final = ("1", "true", "yes")
_FALSE: Final = ("0", "false", "no", "")
_SHORTEST_TOKEN: Final = 16
_LONGEST_TOKEN: Final = 512
ANY_ORIGIN: Final = "*"
_ORIGIN: Final = re.compile(r"https?://[^\s/?#@\\]+", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Settings:
    host: str = "127.0.0.1"
    """Loopback: opening the server to a network is a decision, not a default."""
    port: int = 8000
    workers: int = 1
    capacity: int = 256
    """Sessions at a time in each worker process."""
    max_message_bytes: int = 1_048_576
    """The largest frame or request body that is read; larger ones are answered, not parsed."""
    ping_seconds: int = 20
    """How often a silent peer is asked whether it lives, and how long its answer may take."""
    web: bool = False
    reveal: bool = False
    """Whether truth and plan may be shown after an episode; never on the test split."""
    token: str | None = field(default=None, repr=False)
    """What a caller must know to be served; None serves everybody who reaches the port."""
    origins: tuple[str, ...] = ()
    """Pages of other hosts that may call this server from a browser."""
    messages_per_second: int = 0
    """What one session, and one address over HTTP, may ask in a second; 0 for no bound."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        usual = cls()
        return cls(
            host=environment.get("CAMRE_HOST", usual.host),
            port=_whole(environment, "CAMRE_PORT", usual.port, 0, 65_535),
            workers=_whole(environment, "CAMRE_WORKERS", usual.workers, 1, 256),
            capacity=_whole(environment, "CAMRE_CAPACITY", usual.capacity, 1, 100_000),
            max_message_bytes=_whole(
                environment, "CAMRE_MAX_MESSAGE_BYTES", usual.max_message_bytes, 1_024, 16_777_216
            ),
            ping_seconds=_whole(environment, "CAMRE_PING_SECONDS", usual.ping_seconds, 1, 3_600),
            web=_flag(environment, "ENABLE_WEB_INTERFACE", usual.web),
            reveal=_flag(environment, "CAMRE_REVEAL", usual.reveal),
            token=_token(environment, "CAMRE_TOKEN"),
            origins=_origins(environment, "CAMRE_ORIGINS"),
            messages_per_second=_whole(
                environment, "CAMRE_MESSAGES_PER_SECOND", usual.messages_per_second, 0, 1_000_000
            ),
        )

    def to_environment(self) -> dict[str, str]:
        """What a worker process must find to come to the same settings."""
        return {
            "CAMRE_HOST": self.host,
            "CAMRE_PORT": str(self.port),
            "CAMRE_WORKERS": str(self.workers),
            "CAMRE_CAPACITY": str(self.capacity),
            "CAMRE_MAX_MESSAGE_BYTES": str(self.max_message_bytes),
            "CAMRE_PING_SECONDS": str(self.ping_seconds),
            "ENABLE_WEB_INTERFACE": "true" if self.web else "false",
            "CAMRE_REVEAL": "true" if self.reveal else "false",
            "CAMRE_TOKEN": self.token or "",
            "CAMRE_ORIGINS": " ".join(self.origins),
            "CAMRE_MESSAGES_PER_SECOND": str(self.messages_per_second),
        }


def given_token(environment: Mapping[str, str], name: str) -> str:
    """The token in the variable that was named for it; named and missing is a mistake, and never "no token"."""
    token = _token(environment, name)
    if token is None:
        raise BadInput(f"{name[:40]} holds no token; set it to at least {_SHORTEST_TOKEN} characters")
    return token


def _whole(environment: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    text = environment.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 9 or not low <= int(text) <= high:
        raise BadInput(f"{name} must be a whole number from {low} to {high}, not {text[:40]!r}")
    return int(text)


def _flag(environment: Mapping[str, str], name: str, default: bool) -> bool:
    text = environment.get(name)
    if text is None:
        return default
    if text.lower() not in _TRUE + _FALSE:
        raise BadInput(f"{name} must be true or false, not {text[:40]!r}")
    return text.lower() in _TRUE


def _token(environment: Mapping[str, str], name: str) -> str | None:
    """A token travels in a header: visible ASCII. It is never quoted, not even a wrong one."""
    text = environment.get(name, "")
    if not text:
        return None
    fits = _SHORTEST_TOKEN <= len(text) <= _LONGEST_TOKEN
    if not fits or not all("!" <= character <= "~" for character in text):
        raise BadInput(
            f"{name[:40]} must be {_SHORTEST_TOKEN} to {_LONGEST_TOKEN} visible ASCII characters, without spaces"
        )
    return text


def _origins(environment: Mapping[str, str], name: str) -> tuple[str, ...]:
    words = tuple(environment.get(name, "").split())
    for word in words:
        if word != ANY_ORIGIN and not _ORIGIN.fullmatch(word):
            raise BadInput(f"{name} lists origins such as https://example.org, or *, not {word[:40]!r}")
    return tuple(word.lower() for word in words)
