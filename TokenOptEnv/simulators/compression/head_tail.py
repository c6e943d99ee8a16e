"""First and last lines. Blind to content, so also the honest baseline for the other methods."""

from __future__ import annotations

from TokenOptEnv.simulators.compression.budget import Budget, line_tokens
from TokenOptEnv.simulators.compression.method import Method


def _rewrite(text: str, wanted_tokens: int, query: str) -> str:
    lines = text.removesuffix("\n").split("\n")
    if line_tokens(lines) <= wanted_tokens:
        return text
    budget = Budget(wanted_tokens - line_tokens([_marker(len(lines))]))
    head, tail = 0, len(lines)
    head_open = tail_open = True
    while head < tail and (head_open or tail_open):
        if head_open := head_open and budget.take([lines[head]]):
            head += 1
        if tail_open := tail_open and head < tail and budget.take([lines[tail - 1]]):
            tail -= 1
    if head == 0 and tail == len(lines):
        return ""
    return "\n".join([*lines[:head], _marker(tail - head), *lines[tail:]]) + "\n"


def _marker(cut: int) -> str:
    return f"… {cut} lines cut …"


METHOD = Method(
    name="head_tail",
    describes="the first and last lines, with a count of those cut between",
    rewrite=_rewrite,
)
