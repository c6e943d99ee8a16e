"""A runbook page: numbered sections of short advice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    heading: str
    lines: tuple[str, ...]


def page(title: str, reviewed: str, sections: Sequence[Section]) -> str:
    lines = [f"# {title}", f"Last reviewed {reviewed}"]
    for number, section in enumerate(sections, 1):
        lines.extend(["", f"## {number}. {section.heading}", *(f"- {line}" for line in section.lines)])
    return "\n".join(lines) + "\n"
