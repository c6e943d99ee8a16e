"""Layouts of the test split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from TokenOptEnv.task_defs.incident.generator.papers.style import Change, Comment, Ids, Style

_FIRST_IDS = Ids(deploy="art-", config="par-", job="ord-", ticket="CASE-")
_SECOND_IDS = Ids(deploy="img-", config="rev-", job="act-", ticket="EV-")


@dataclass(frozen=True)
class Register:
    """Registers with columns, cases as correspondence."""

    ids: Ids = _FIRST_IDS

    def change_head(self, change: Change) -> str:
        return f"{change.entry_id} | {change.at} | {change.service} | {change.scope} | {change.state} | {change.author}"

    def changes(self, heading: str, entries: Sequence[Change]) -> str:
        lines = [f"REGISTER {heading}", "entry | when | component | where | status | filed by"]
        for change in entries:
            lines += [self.change_head(change), f"     > {change.summary}", *(f"     : {line}" for line in change.diff)]
        return "\n".join(lines) + "\n"

    def ticket(self, key: str, title: str, opened: str, body: Sequence[str], comments: Sequence[Comment]) -> str:
        lines = [f"Case {key} / {title}", f"Filed {opened} by alarm relay", *(f"> {line}" for line in body)]
        for comment in comments:
            lines += ["", f"From {comment.who} ({comment.at}):", f"  {comment.text}"]
        return "\n".join(lines) + "\n"

    def chat(self, channel: str, comments: Sequence[Comment]) -> str:
        lines = [f"== {channel} =="]
        for comment in comments:
            lines += [f"{comment.who} / {comment.at}", f"   {comment.text}"]
        return "\n".join(lines) + "\n"

    def runbook(self, title: str, reviewed: str, parts: Sequence[Sequence[str]]) -> str:
        lines = [f"GUIDE: {title}", f"edition {reviewed}"]
        for number, advice in enumerate(parts, start=1):
            lines += ["", f"### Sheet {number}", *(f"{place}) {line}" for place, line in enumerate(advice, start=1))]
        return "\n".join(lines) + "\n"

    def host_summary(self, host: str, p95_ms: int, errors: int, customers: int, passed_on: int, cpu: int) -> str:
        return (
            f"node {host} / median {p95_ms}ms / self-made failures {errors}, real callers {customers} / "
            f"inherited {passed_on} / cores {cpu}%"
        )

    def host_head(self, host: str, service: str, cell: str, span: str) -> str:
        return f"[{cell}] {service} on {host}, {span}"

    def host_detail(self, number: int, draws: Sequence[int]) -> str:
        a, b, c, d = draws[:4]
        if number >= 10:
            return f"slice {number - 10}: {a % 70} busy, {b % 12} stolen, {c % 30} throttled"
        return (
            f"rss {a + 900}MiB, cached {b + 400}MiB, huge pages {c % 8}",
            f"bond0 rx {a + 50}pps tx {b + 70}pps, errors {c % 2}",
            f"nvme0 {10 + a % 70}% full, wear {b % 20}%",
            f"tasks {60 + a % 200}, handles {500 + b % 900}, orphans {c % 5}",
            f"pressure cpu {a % 9}.{b % 10} io {b % 5}.{c % 10} mem {c % 3}.{d % 10}",
            f"syscalls {a + 5000}/s, softirq {b % 7}%",
            f"queue depth {a % 12}, latency read {b % 3}.{c % 10}ms",
            f"booted {a % 200} days ago, build {b + 7000}",
            f"tlb misses {a + 200}k, branch misses {c % 6}%",
            f"ptp delta {d % 800}us, grandmaster reachable",
        )[number]

    def span(self, depth: int, service: str, host: str, began_ms: int, took_ms: int, end: str) -> str:
        return f"{began_ms:>6} {'|' * depth}{service} ({host}) for {took_ms}ms -> {end}"


@dataclass(frozen=True)
class Ledgers(Register):
    """The same offices, another clerk: entries read as sentences."""

    ids: Ids = _SECOND_IDS

    def change_head(self, change: Change) -> str:
        return f"{change.entry_id}, {change.service}, {change.scope}: {change.state} on {change.at} ({change.author})"

    def changes(self, heading: str, entries: Sequence[Change]) -> str:
        lines = [f"Ledger of {heading}"]
        for change in entries:
            lines += [self.change_head(change), f"   re: {change.summary}", *(f"   {line}" for line in change.diff)]
        return "\n".join(lines) + "\n"

    def ticket(self, key: str, title: str, opened: str, body: Sequence[str], comments: Sequence[Comment]) -> str:
        lines = [f"{key}: {title}", f"raised {opened}", ""]
        lines += [f"- {line}" for line in body]
        lines += [f"- [{comment.at}] {comment.text} ({comment.who})" for comment in comments]
        return "\n".join(lines) + "\n"


TEST_STYLES: tuple[Style, ...] = (Register(), Ledgers())
