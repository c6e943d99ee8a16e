"""What can be told about a log line without knowing its format: its clock, its loudness, what it belongs to.

Segmenter and compressors share these readings, so that a stack trace that stays with its head line when an
artifact is cut also folds with it when the segment is compressed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_STAMP = re.compile(
    r"""(?<![\w.:-])[\[({<"']*
    (?:(?:ts|time|timestamp|@timestamp)["']?[=:]\s*["']?)?
    (?:
        \d{4}[-/]\d\d[-/]\d\d(?:[T ,]+\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?)?(?:\s?(?:Z|UTC|[+-]\d\d:?\d\d))?
      | \d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?:\s[+-]\d{4})?
      | [A-Z][a-z]{2}\s+\d{1,2}\s\d\d:\d\d:\d\d(?:[.,]\d+)?
      | [EWIFD]\d{4}\s\d\d:\d\d:\d\d(?:[.,]\d+)?
      | \d\d:\d\d(?::\d\d)?(?:[.,]\d+)?
      | \d{10}(?:\d{3}|\.\d+)?
    )
    (?:["'],\s*|[\])}>"',;|]*(?:\s+(?:[|-]\s+)?|$))""",
    re.VERBOSE,
)
_STAMP_WITHIN = 48
_CLOCK = re.compile(r"(?<!\d)\d\d:\d\d(?::\d\d)?(?![\d:])")
_CLOCK_WITHIN = 96
_LOUD = re.compile(
    r"\b(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC|WARN(?:ING)?|FAIL(?:ED)?|ALERT|EMERG)\b"
    r"|\bTraceback\b|##\[(?:error|warning)\]|\bpanic:|^\W?[EWF]\d{4}\s"
    r"""|\b(?:level|lvl|severity)["']?[=:]\s*["']?(?:warn|err|crit|fatal|alert|emerg|panic)"""
)
_ATTACHED = re.compile(
    r"\s+\S|Traceback \(most recent|Caused by: |Suppressed: |\.\.\. \d+ (?:more|common)"
    r"|During handling of the above|The above exception was"
)
_EXCEPTION = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning|Failure|Timeout)(?::|$)")
_VARIABLE = re.compile(
    r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
    r"|\b[0-9a-fA-F]{8,}+\b"
    r"|\b(?>\w*\d\w*)\b(?!=)(?:[.:,](?>\w*\d\w*)\b)*"
)

VARIABLE_MARK = "#"


def clock(line: str) -> str:
    """The time of day a line begins with, `HH:MM:SS` as written, or nothing."""
    found = _CLOCK.search(line, 0, _CLOCK_WITHIN)
    return found.group() if found else ""


def after_stamp(line: str) -> str:
    """The line without the date and time it begins with."""
    found = _STAMP.match(line)
    return line[found.end() :] if found else line


def without_stamp(line: str) -> str:
    """The line without the first date and time near its beginning, wherever its format puts them."""
    found = _STAMP.search(line, 0, _STAMP_WITHIN)
    return line[: found.start()] + line[found.end() :] if found else line


def is_loud(line: str) -> bool:
    return _LOUD.search(line) is not None


def masked(line: str) -> str:
    """The line with each word that holds a digit, and each long hexadecimal, as a variable; `p99=` is a name."""
    return _VARIABLE.sub(VARIABLE_MARK, line)


def record_starts(lines: Sequence[str]) -> list[int]:
    """Where the records begin: a head line takes the indented lines and the exceptions that follow it along.

    A bare exception line (`ValueError: …`) is told from a record of its own by its neighbours: the last frame
    above it (Python) or the first below it (Java).
    """
    starts = []
    for index, line in enumerate(lines):
        if index and (_ATTACHED.match(line) or _ends_or_opens_a_trace(lines, index) or _blank_inside(lines, index)):
            continue
        starts.append(index)
    return starts


def _ends_or_opens_a_trace(lines: Sequence[str], index: int) -> bool:
    if not _EXCEPTION.match(lines[index]):
        return False
    below = lines[index + 1] if index + 1 < len(lines) else ""
    return lines[index - 1][:1].isspace() or below[:1].isspace()


def _blank_inside(lines: Sequence[str], index: int) -> bool:
    """A blank line is part of a record when the record goes on below it."""
    return not lines[index].strip() and index + 1 < len(lines) and _ATTACHED.match(lines[index + 1]) is not None
