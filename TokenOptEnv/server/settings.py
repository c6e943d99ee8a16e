"""What the server is told from outside: the one place that reads environment variables.

`docs/server.md` has the same table for people; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from TokenOptEnv.errors import BadInput

_TRUE: Final = ("1", "true", "yes")
_FALSE: Final = ("0", "false", "no", "")


@dataclass(frozen=True, slots=True)
class Settings:
    host: str = "127.0.0.1"
    """Loopback: the server has no accounts, so opening it to a network is a decision, not a default."""
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
    """Whether the Studio shows truth and plan after an episode; never on the test split."""

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
        }


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
