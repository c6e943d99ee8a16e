"""A ticket: headers, what was reported, and the comments under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ticket:
    key: str
    summary: str
    severity: str
    opened: str
    reporter: str
    body: tuple[str, ...]
    comments: tuple[tuple[str, str, str], ...] = ()
    """When, who, what."""


def page(ticket: Ticket) -> str:
    lines = [
        f"{ticket.key}  {ticket.summary}",
        f"severity: {ticket.severity}   opened: {ticket.opened}   reporter: {ticket.reporter}",
        "",
        *ticket.body,
    ]
    lines.extend(_comments(ticket.comments))
    return "\n".join(lines) + "\n"


def _comments(comments: Sequence[tuple[str, str, str]]) -> list[str]:
    return [line for when, who, what in comments for line in ("", f"{who} at {when}:", what)]
