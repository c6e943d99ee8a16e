"""Log templates: what a log says over and over, said once, so that what it says only once can stay.

Records (a head line with its stack trace) are grouped by Drain. A group of one stays byte for byte. A larger one
becomes a line with its count, its first and last time, and its template, in which variables that took few values
show them. The wanted size is filled rare before frequent; what is left of it then gives traces and small groups back in
full, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from TokenOptEnv.simulators import terms
from TokenOptEnv.simulators.compression.budget import Budget
from TokenOptEnv.simulators.compression.drain import WILDCARD, Drain, Group
from TokenOptEnv.simulators.compression.method import Method
from TokenOptEnv.simulators.log_lines import VARIABLE_MARK, after_stamp, clock, is_loud, masked, record_starts

_FEW_VALUES = 3
_FEW_VALUES_CHARACTERS = 36
_TRACE_ENDS = 2
_LONGER_TRACE_ENDS = (32, 8)
_LINKS = ("Caused by:", "Traceback")
_RESERVE_TOKENS = 12


@dataclass(frozen=True, slots=True)
class _Record:
    place: int
    """The number of its head line."""
    lines: tuple[str, ...]
    tokens: tuple[str, ...]
    """Of the head line after its timestamp, as written; joined by blanks they give it back."""
    masked_tokens: tuple[str, ...]


@dataclass(slots=True)
class _Entry:
    """A group, and how it is printed: nowhere yet, as a template, or record by record."""

    records: tuple[_Record, ...]
    brief: tuple[str, ...]
    printed: dict[int, tuple[str, ...]]
    """Lines, by place."""


def _rewrite(text: str, wanted_tokens: int, query: str) -> str:
    records = _records(text.removesuffix("\n").split("\n"))
    drain = Drain()
    for number, record in enumerate(records):
        drain.add(number, record.masked_tokens)
    entries = [_entry(group, [records[member] for member in group.members]) for group in drain.groups]
    asked = terms.distinct(query)
    entries.sort(key=lambda entry: _rarity(entry, asked))

    budget = Budget(wanted_tokens - _RESERVE_TOKENS)
    for entry in entries:
        if budget.take(entry.brief):
            entry.printed = {entry.records[0].place: entry.brief}
    for entry in entries:
        fuller = next((way for way in _fuller(entry) if entry.printed and budget.take(_flat(way), entry.brief)), None)
        entry.printed = fuller or entry.printed

    printed = {place: lines for entry in entries for place, lines in entry.printed.items()}
    if not printed:
        return ""
    result = _flat(printed)
    left_out = [entry for entry in entries if not entry.printed]
    if left_out:
        lines = sum(len(record.lines) for entry in left_out for record in entry.records)
        result.append(f"… {lines} lines of {len(left_out)} templates left out")
    return "\n".join(result) + "\n"


def _flat(printed: dict[int, tuple[str, ...]]) -> list[str]:
    return [line for place in sorted(printed) for line in printed[place]]


def _records(lines: Sequence[str]) -> list[_Record]:
    starts = record_starts(lines)
    records = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        message = after_stamp(lines[start])
        records.append(
            _Record(
                place=start,
                lines=tuple(lines[start:end]),
                tokens=tuple(message.split(" ")),
                masked_tokens=tuple(masked(message).split(" ")),
            )
        )
    return records


def _rarity(entry: _Entry, asked: Sequence[str]) -> tuple[int, bool, int, int]:
    """Small groups first; among equals the loud, then those that hold what is asked for, then the earlier."""
    head = entry.records[0].lines[0]
    lowered = head.lower()
    return (len(entry.records), not is_loud(head), -sum(term in lowered for term in asked), entry.records[0].place)


def _entry(group: Group, records: Sequence[_Record]) -> _Entry:
    first, last = records[0], records[-1]
    head = first.lines[0]
    if len(records) > 1:
        began, ended = clock(head), clock(last.lines[0])
        when = f" {began}" + (f"..{ended}" if ended != began else "") if began else ""
        head = f"(x{len(records)}{when}) {_template(group, records)}"
    return _Entry(records=tuple(records), brief=(head, *_folded(first.lines[1:], _TRACE_ENDS)), printed={})


def _fuller(entry: _Entry) -> Iterator[dict[int, tuple[str, ...]]]:
    """Ways to print an entry with less left out than in brief, the fullest first."""
    yield {record.place: record.lines for record in entry.records}
    first = entry.records[0]
    for ends in _LONGER_TRACE_ENDS:
        if len(first.lines) > 2 * ends:
            yield {first.place: (entry.brief[0], *_folded(first.lines[1:], ends))}


def _template(group: Group, records: Sequence[_Record]) -> str:
    shown = []
    for position, token in enumerate(group.template):
        values = list(dict.fromkeys(record.tokens[position] for record in records))
        if len(values) == 1:
            shown.append(values[0])
        elif len(values) <= _FEW_VALUES and sum(map(len, values)) <= _FEW_VALUES_CHARACTERS:
            shown.append("{" + "|".join(values) + "}")
        else:
            shown.append(token.replace(VARIABLE_MARK, WILDCARD))
    return " ".join(shown)


def _folded(trace: Sequence[str], ends: int) -> tuple[str, ...]:
    """Both ends of a stack trace, where languages put the error and the innermost frame, and each link of its chain."""
    kept = [
        index
        for index, line in enumerate(trace)
        if index < ends or index >= len(trace) - ends or line.startswith(_LINKS)
    ]
    if len(trace) - len(kept) < 2:
        return tuple(trace)
    folded: list[str] = []
    below = 0
    for index in kept:
        if index > below:
            folded.append(f"  … {index - below} more")
        folded.append(trace[index])
        below = index + 1
    return tuple(folded)


METHOD = Method(
    name="log_templates",
    describes="repeated log lines as templates with counts and times; rare lines kept whole",
    rewrite=_rewrite,
)
