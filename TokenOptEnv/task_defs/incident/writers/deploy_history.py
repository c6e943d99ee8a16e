"""A deploy tool's history, newest first, as its command line prints it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Deploy:
    deploy_id: str
    service: str
    started: str
    state: str
    author: str
    notes: tuple[str, ...] = ()


def history(heading: str, deploys: Sequence[Deploy]) -> str:
    lines = [heading, ""]
    for deploy in deploys:
        lines.append(f"{deploy.deploy_id}  {deploy.service:<16} {deploy.started}  {deploy.state}  by {deploy.author}")
        lines.extend(f"    {note}" for note in deploy.notes)
    return "\n".join(lines) + "\n"
