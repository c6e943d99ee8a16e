"""A house's way of keeping papers: the same content, another layout.

What is quoted as evidence is always one whole line, which a style returns as it prints it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Change:
    """An entry in the list of changes: deploys, settings, runs."""

    entry_id: str
    service: str
    at: str
    state: str
    scope: str
    author: str
    summary: str
    diff: tuple[str, ...]
    sha: str


@dataclass(frozen=True, slots=True)
class Comment:
    at: str
    who: str
    text: str


@dataclass(frozen=True, slots=True)
class Ids:
    """How a house numbers things."""

    deploy: str
    config: str
    job: str
    ticket: str


class Style(Protocol):
    @property
    def ids(self) -> Ids: ...

    def change_head(self, change: Change) -> str:
        """The line that names an entry, its service, time, state and scope."""

    def changes(self, heading: str, entries: Sequence[Change]) -> str: ...

    def ticket(self, key: str, title: str, opened: str, body: Sequence[str], comments: Sequence[Comment]) -> str: ...

    def chat(self, channel: str, comments: Sequence[Comment]) -> str: ...

    def runbook(self, title: str, reviewed: str, parts: Sequence[Sequence[str]]) -> str: ...

    def host_summary(self, host: str, p95_ms: int, errors: int, customers: int, passed_on: int, cpu: int) -> str:
        """The line of a report that hosts are compared by."""

    def host_head(self, host: str, service: str, cell: str, span: str) -> str: ...

    def host_detail(self, number: int, draws: Sequence[int]) -> str:
        """Line `number` of what else a report says about a host; `draws` are ten numbers below a thousand."""

    def span(self, depth: int, service: str, host: str, began_ms: int, took_ms: int, end: str) -> str: ...
