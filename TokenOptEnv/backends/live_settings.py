"""What a live backend is told besides its address. The key is no setting: it is read where it is sent.

`docs/backends.md` has the same table for people; a test holds the two together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from TokenOptEnv.errors import BadInput

ANY_MODEL: Final = "*"
KEY: Final = "CAMRE_LIVE_API_KEY"
_RECORD: Final = "CAMRE_LIVE_RECORD"
_CAP: Final = "CAMRE_LIVE_CAP_USD"
_MODELS: Final = "CAMRE_LIVE_MODELS"
_AT_ONCE: Final = "CAMRE_LIVE_AT_ONCE"
_TIMEOUT: Final = "CAMRE_LIVE_TIMEOUT_S"
_REPLY: Final = "CAMRE_LIVE_REPLY_TOKENS"
_REASONING: Final = "CAMRE_LIVE_REASONING_ROOM"
_TEXTS: Final = "CAMRE_LIVE_TEXTS"
VARIABLES: Final = (KEY, _RECORD, _CAP, _MODELS, _AT_ONCE, _TIMEOUT, _REPLY, _REASONING, _TEXTS)
_LARGEST_CAP_USD: Final = 1_000_000.0


@dataclass(frozen=True, slots=True)
class LiveSettings:
    record: Path | None = None
    """Every live backend records; where, its user says."""
    cap_nano_usd: int = 1_000_000_000
    """Of everything that stands in the recording, earlier runs included."""
    served_as: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """From a model of the catalog to its name at the endpoint; `*` is every other one."""
    at_once: int = 4
    """Questions under way at a time."""
    timeout_s: float = 120.0
    """For one reply, from sending to its last byte."""
    reply_tokens: int = 600
    """The most a reply may take besides its reasoning. A patch in JSON takes more than a simulated reply."""
    reasoning_room: int = 4
    """So many times what the model's card gives for reasoning: a real one must not be cut off for taking longer.
    0 where none of the served models reasons."""
    waits_s: tuple[float, ...] = (1.0, 4.0, 15.0)
    """Before each further try."""
    keep_texts: bool = False
    """Prompts and raw replies stand in the recording too."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> LiveSettings:
        usual = cls()
        record, cap = environment.get(_RECORD), environment.get(_CAP)
        return cls(
            record=Path(record) if record else None,
            cap_nano_usd=usual.cap_nano_usd if cap is None else nano_usd(_CAP, cap),
            served_as=served_as(part for part in environment.get(_MODELS, "").split(",") if part.strip()),
            at_once=_whole(environment, _AT_ONCE, usual.at_once, 1, 256),
            timeout_s=_whole(environment, _TIMEOUT, int(usual.timeout_s), 1, 3_600),
            reply_tokens=_whole(environment, _REPLY, usual.reply_tokens, 50, 32_000),
            reasoning_room=_whole(environment, _REASONING, usual.reasoning_room, 0, 100),
            keep_texts=_flag(environment, _TEXTS),
        )

    def name_of(self, model_id: str) -> str:
        return self.served_as.get(model_id) or self.served_as.get(ANY_MODEL) or model_id


def nano_usd(name: str, text: str) -> int:
    try:
        usd = float(text)
    except ValueError:
        usd = math.nan
    if not 0.0 < usd <= _LARGEST_CAP_USD:
        raise BadInput(f"{name} must be an amount in dollars, like 0.50, not {text[:40]!r}")
    return round(usd * 1e9)


def served_as(parts: Iterable[str]) -> Mapping[str, str]:
    """From `MODEL=NAME`, or `NAME` alone for every model that is not named."""
    found: dict[str, str] = {}
    for part in parts:
        model_id, equals, name = (piece.strip() for piece in part.partition("="))
        model_id, name = (model_id, name) if equals else (ANY_MODEL, model_id)
        if not model_id or not name:
            raise BadInput(f"a served model is written MODEL=NAME, or NAME for all, not {part[:80]!r}")
        if found.setdefault(model_id, name) != name:
            raise BadInput(f"model {model_id!r} is served as {found[model_id]!r} or as {name!r}; give one")
    return MappingProxyType(found)


def _whole(environment: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    text = environment.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 9 or not low <= int(text) <= high:
        raise BadInput(f"{name} must be a whole number from {low} to {high}, not {text[:40]!r}")
    return int(text)


def _flag(environment: Mapping[str, str], name: str) -> bool:
    text = environment.get(name, "")
    if text.lower() not in ("", "0", "1", "false", "no", "true", "yes"):
        raise BadInput(f"{name} must be true or false, not {text[:40]!r}")
    return text.lower() in ("1", "true", "yes")
