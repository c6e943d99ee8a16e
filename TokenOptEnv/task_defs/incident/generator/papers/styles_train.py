"""Layouts of the train and validation splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from TokenOptEnv.task_defs.incident.generator.papers.style import Change, Comment, Ids, Style
from TokenOptEnv.task_defs.incident.writers import chat, runbook, ticket

_FIRST_IDS = Ids(deploy="dep-", config="cfg-", job="run-", ticket="INC-")
_SECOND_IDS = Ids(deploy="rel-", config="set-", job="job-", ticket="OPS-")


@dataclass(frozen=True)
class DeployTool:
    """Lists as a deploy tool's command line prints them."""

    ids: Ids = _FIRST_IDS

    def change_head(self, change: Change) -> str:
        return f"{change.entry_id}  {change.service}  {change.at}  {change.state}  {change.scope}  by {change.author}"

    def changes(self, heading: str, entries: Sequence[Change]) -> str:
        lines = [heading, ""]
        for change in entries:
            lines += [self.change_head(change), f"    {change.summary}", *(f"    {line}" for line in change.diff)]
        return "\n".join(lines) + "\n"

    def ticket(self, key: str, title: str, opened: str, body: Sequence[str], comments: Sequence[Comment]) -> str:
        said = tuple((comment.at, comment.who, comment.text) for comment in comments)
        return ticket.page(ticket.Ticket(key, title, "2", opened, "pager", tuple(body), said))

    def chat(self, channel: str, comments: Sequence[Comment]) -> str:
        return chat.transcript(channel, [(comment.at, comment.who, comment.text) for comment in comments])

    def runbook(self, title: str, reviewed: str, parts: Sequence[Sequence[str]]) -> str:
        sections = [runbook.Section(f"Part {number}", tuple(lines)) for number, lines in enumerate(parts, start=1)]
        return runbook.page(title, reviewed, sections)

    def host_summary(self, host: str, p95_ms: int, errors: int, customers: int, passed_on: int, cpu: int) -> str:
        return (
            f"{host}: own p95 {p95_ms} ms, own errors {errors} (customers {customers}), "
            f"passed on {passed_on}, processor {cpu} %"
        )

    def host_head(self, host: str, service: str, cell: str, span: str) -> str:
        return f"{host}  {service}  {cell}  {span}"

    def host_detail(self, number: int, draws: Sequence[int]) -> str:
        a, b, c, d = draws[:4]
        if number >= 10:
            return f"core {number - 10}: user {a % 60} %, system {b % 20} %, idle {20 + c % 20} %"
        return (
            f"memory {a + 2048} of 8192 MB, swap {b % 40} MB",
            f"eth0 in {a + 90} out {b + 120} kbit/s, drops {c % 3}",
            f"/ {20 + a % 60} %, /var {30 + b % 50} %, /tmp {c % 30} %",
            f"threads {100 + a % 300}, sockets {200 + b % 700}, time wait {c % 400}",
            f"load {a % 4}.{b % 100:02d} {b % 3}.{c % 100:02d} {c % 3}.{d % 100:02d}",
            f"context switches {a + 1000}/s, interrupts {b + 800}/s",
            f"disk vda read {a % 90} write {b % 400} KB/s, await {c % 9} ms",
            f"uptime {a % 90} d, kernel 6.1.{b % 130}",
            f"page faults minor {a + 3000} major {c % 4}",
            f"ntp offset {d % 9}.{c % 10} ms, stratum 3",
        )[number]

    def span(self, depth: int, service: str, host: str, began_ms: int, took_ms: int, end: str) -> str:
        return f"{'  ' * depth}{service} @{host} +{began_ms} ms, {took_ms} ms, {end}"


@dataclass(frozen=True)
class GitHouse(DeployTool):
    """Everything is a commit, tickets have fields."""

    ids: Ids = _SECOND_IDS

    def change_head(self, change: Change) -> str:
        return f"commit {change.sha} {change.entry_id} {change.service} {change.state} {change.scope} {change.at}"

    def changes(self, heading: str, entries: Sequence[Change]) -> str:
        lines = [f"# {heading}"]
        for change in entries:
            lines += [self.change_head(change), f"Author: {change.author}", f"    {change.summary}", *change.diff]
        return "\n".join(lines) + "\n"

    def ticket(self, key: str, title: str, opened: str, body: Sequence[str], comments: Sequence[Comment]) -> str:
        lines = [
            f"# {key} {title}",
            f"Opened: {opened}",
            "Priority: P2",
            "",
            "## Description",
            *body,
            "",
            "## Comments",
        ]
        lines += [f"* {comment.who}, {comment.at}: {comment.text}" for comment in comments]
        return "\n".join(lines) + "\n"

    def chat(self, channel: str, comments: Sequence[Comment]) -> str:
        return "\n".join([channel, *(f"{one.at} <{one.who}> {one.text}" for one in comments)]) + "\n"


TRAIN_STYLES: tuple[Style, ...] = (DeployTool(), GitHouse())
