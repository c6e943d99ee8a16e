"""Lines that match the query, best first, each with its neighbours, printed in order.

A line weighs the idf, over the lines of this text, of the query's terms in it. Where nothing matches, or nothing
is asked, loud lines (warnings, errors) are what anyone would look at first; failing those, the first lines.
"""

from __future__ import annotations

from math import log

from TokenOptEnv.simulators import terms
from TokenOptEnv.simulators.compression.budget import Budget
from TokenOptEnv.simulators.compression.method import Method
from TokenOptEnv.simulators.log_lines import is_loud

_GAP = "…"


def _rewrite(text: str, wanted_tokens: int, query: str) -> str:
    lines = text.removesuffix("\n").split("\n")
    weights = _weights(lines, query)
    ranked = sorted((index for index, weight in enumerate(weights) if weight > 0), key=lambda i: (-weights[i], i))
    budget = Budget(wanted_tokens)
    taken: set[int] = set()
    for index in ranked:
        around = [near for near in range(max(0, index - 1), min(len(lines), index + 2)) if near not in taken]
        for group in (around, [index]):
            if index not in taken and budget.take([*(lines[near] for near in group), _GAP]):
                taken.update(group)
    return _printed(lines, sorted(taken)) if taken else ""


def _weights(lines: list[str], query: str) -> list[float]:
    asked = frozenset(terms.distinct(query))
    found = [asked.intersection(terms.terms(line)) for line in lines]
    spread = {term: sum(term in present for present in found) for term in asked}
    idf = {term: round(log(1 + len(lines) / count), 6) for term, count in spread.items() if count}
    weights = [sum(sorted(idf[term] for term in present)) for present in found]
    if not any(weights):
        weights = [1.0 if is_loud(line) else 0.0 for line in lines]
    return weights if any(weights) else [1.0] * len(lines)


def _printed(lines: list[str], taken: list[int]) -> str:
    printed: list[str] = []
    below = 0
    for index in taken:
        if index > below:
            printed.append(_GAP)
        printed.append(lines[index])
        below = index + 1
    if below < len(lines):
        printed.append(_GAP)
    return "\n".join(printed) + "\n"


METHOD = Method(
    name="extract",
    describes="the lines that match the query, best first, each with a line above and below",
    rewrite=_rewrite,
)
