"""An incident channel's export."""

from __future__ import annotations

from collections.abc import Sequence


def transcript(channel: str, messages: Sequence[tuple[str, str, str]]) -> str:
    """Messages are (when, who, what)."""
    return "\n".join([channel, *(f"[{when}] {who}: {what}" for when, who, what in messages)]) + "\n"
