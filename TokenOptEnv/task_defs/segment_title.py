"""The line an outline shows for a segment: where it is, how loud it is, and what it is about.

An outline is billed at every step it stays in memory, and digits are the dearest characters there are (one token
each). So a log segment is placed by one time of day, not by dates and line numbers, and described by its first loud
message; code is placed by its lines, because answers name lines, and described by what it defines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from TokenOptEnv.models import ArtifactKind
from TokenOptEnv.simulators.log_lines import clock, is_loud, without_stamp

_TITLE_CHARACTERS = 72
_DEFINITION = re.compile(r"(\s*)(?:class|def|async\s+def)\s+(\w+)")
_DIFF_FILE = re.compile(r"(?:diff --git |\+\+\+ )(?:[ab]/)?(\S+)")
_HUNK = re.compile(r"@@[^@]*@@\s*(.*)")
_COMMIT = re.compile(r"commit (\S+)")
_ENTRY = re.compile(r"(?=\S*\d)([\w-]{3,})\s+(.*)")
_ENTRY_CHARACTERS = 32
_SHORT_HASH = 8
_COLOUR = re.compile(r"(?:\x1b|\^\[)\[[0-9;]*m")
_HEADING = re.compile(r"#{1,4}\s+(.+)")
_CONFIG_NAME = re.compile(r"\[([^\]]+)\]|[\"']?([A-Za-z_][\w.-]*)[\"']?\s*[:={]")
_FAILED_TEST = re.compile(
    r"::(\S+) (?:FAILED|ERROR)\b"
    r"|\b(?:FAILED|FAIL|ERROR)[: ]+(?:\S*::)?(test\S*)"
    r"|^_{5,} (?:ERROR at \w+ of )?(\S+) _{5,}"
)
_LEVEL_AT_START = re.compile(
    r"""[\[(]?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE)[\])]?:?\s+"""
    r"""|["']?(?:level|lvl|severity)["']?[=:]["']?\w+["']?[,\s]*"""
)
_MESSAGE_AT_START = re.compile(r"""["']?(?:msg|message|event)["']?[=:]\s*(["']?)""")


_TIMED = (ArtifactKind.LOG, ArtifactKind.METRICS, ArtifactKind.TRACE, ArtifactKind.CHAT, ArtifactKind.TEST_REPORT)


def segment_title(kind: ArtifactKind, lines: Sequence[str], start: int, end: int, first: int, last: int) -> str:
    """`lines[start:end]` is the segment; `first` and `last` are its line numbers in the artifact."""
    chunk = lines[start:end]
    where = f"L{first}-{last}"
    match kind:
        case ArtifactKind.CODE:
            what = _defined(lines, start, end)
        case ArtifactKind.DIFF:
            what = _changed(lines, start, end)
        case ArtifactKind.HISTORY:
            what = _commits(chunk)
        case ArtifactKind.CONFIG:
            what = _listed(name for line in chunk if (name := _config_name(line)))
        case ArtifactKind.RUNBOOK | ArtifactKind.TICKET:
            what = _listed(found.group(1) for line in chunk if (found := _HEADING.match(line)))
        case ArtifactKind.TEST_REPORT:
            failed = _listed("".join(names) for line in chunk for names in _FAILED_TEST.findall(line))
            what = failed and f"!{failed}"
        case _:
            what = ""
    if not what:
        what = _loudest(chunk)
        if kind in _TIMED:
            where = next((time for line in chunk if (time := clock(line))), where)
    return _cut(f"{where} {what}".rstrip(), _TITLE_CHARACTERS)


def _loudest(chunk: Sequence[str]) -> str:
    loud = [line for line in chunk if is_loud(line)]
    first = next((line for line in [*loud, *chunk] if line.strip()), "")
    message = without_stamp(_COLOUR.sub("", first).strip())
    if found := _LEVEL_AT_START.match(message):
        message = message[found.end() :]
    if found := _MESSAGE_AT_START.match(message):
        message = message[found.end() :].replace(found.group(1), "", 1) if found.group(1) else message[found.end() :]
    return (f"!{len(loud)} " if loud else "") + (message or first.strip())


def _defined(lines: Sequence[str], start: int, end: int) -> str:
    """Names defined, after the name of what the segment begins in the middle of."""
    names = [found.group(2) for line in lines[start:end] if (found := _DEFINITION.match(line))]
    telling = [name for name in names if not name.startswith("__")] or names
    inside = _enclosing(lines, start)
    return _listed([f"…{inside}", *telling] if inside else telling)


def _enclosing(lines: Sequence[str], start: int) -> str:
    depth = next((len(line) - len(line.lstrip()) for line in lines[start:] if line.strip()), 0)
    path: list[str] = []
    for index in range(start - 1, -1, -1):
        if depth == 0:
            break
        found = _DEFINITION.match(lines[index])
        if found and len(found.group(1)) < depth:
            path.append(found.group(2))
            depth = len(found.group(1))
    return ".".join(reversed(path))


def _changed(lines: Sequence[str], start: int, end: int) -> str:
    """The files, or for the middle of a file's diff its name and the hunks' own headings."""
    chunk = lines[start:end]
    files = [found.group(1) for line in chunk if (found := _DIFF_FILE.match(line)) and found.group(1) != "/dev/null"]
    if not _DIFF_FILE.match(lines[start]) and not lines[start].startswith(("--- ", "commit ", "Index: ")):
        above = next((f.group(1) for line in reversed(lines[:start]) if (f := _DIFF_FILE.match(line))), "")
        files = [f"…{above}", *files] if above else files
    hunks = [found.group(1) for line in chunk if (found := _HUNK.match(line)) and found.group(1)]
    commits = [found.group(1)[:_SHORT_HASH] for line in chunk if (found := _COMMIT.match(line))]
    what = " ".join(filter(None, [_listed(commits), _listed(files)]))
    return "; ".join([what, *dict.fromkeys(hunks)]) if what else ""


def _commits(chunk: Sequence[str]) -> str:
    """Commits as `git log` prints them, or entries of one line each that begin with an id."""
    entries = []
    for index, line in enumerate(chunk):
        if found := _COMMIT.match(line):
            subject = next((below.strip() for below in chunk[index + 1 :] if below.startswith(("    ", "\t"))), "")
            entries.append(f"{found.group(1)[:_SHORT_HASH]} {subject}".strip())
        elif found := _ENTRY.match(line):
            entries.append(
                _cut(f"{found.group(1)} {' '.join(without_stamp(found.group(2)).split())}", _ENTRY_CHARACTERS)
            )
    return "; ".join(entries)


def _config_name(line: str) -> str:
    found = _CONFIG_NAME.match(line)
    return (found.group(1) or found.group(2)) if found else ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _cut(title: str, characters: int) -> str:
    return title if len(title) <= characters else title[: characters - 1].rstrip(" …") + "…"
