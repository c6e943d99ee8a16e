"""The history of a configuration repository, each change with its diff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ConfigChange:
    change_id: str
    commit: str
    author: str
    at: str
    summary: str
    path: str
    diff: tuple[str, ...]


def changes(items: Sequence[ConfigChange]) -> str:
    blocks = [
        "\n".join(
            [
                f"commit {item.commit} {item.change_id}",
                f"Author: {item.author}  {item.at}",
                f"    {item.summary}",
                f"diff --git a/{item.path} b/{item.path}",
                *item.diff,
            ]
        )
        for item in items
    ]
    return "\n".join(blocks) + "\n"
