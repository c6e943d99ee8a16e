"""A repository's recent past, told backwards: from the files as they are, each commit's edits are taken back.

So the diffs are real ones between real states, and the newest state is exactly the code that the case shows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from hashlib import sha1

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.bugfix.edit import Edit

_HUNK = re.compile(r"@@ -(\d+)")


@dataclass(frozen=True, slots=True)
class Commit:
    sha: str
    author: str
    date: str
    message: str
    """Subject, then an empty line and the body where there is one."""
    edits: tuple[Edit, ...]

    @property
    def subject(self) -> str:
        return self.message.split("\n")[0]


def sha(*key: str) -> str:
    """A short commit id that belongs to `key` and to nothing else."""
    return Stream("commit", *key).hex(8)


def log_with_diffs(head: Mapping[str, str], commits: Sequence[Commit]) -> str:
    """`git log -p`, newest first. `commits` are newest first too."""
    files = dict(head)
    entries = []
    for commit in commits:
        parent = files
        for edit in reversed(commit.edits):
            parent = edit.undone(parent)
        entries.append("\n".join([*_header(commit), *_diff(parent, files)]))
        files = parent
    return "\n\n".join(entries) + "\n"


def _header(commit: Commit) -> list[str]:
    said = [f"    {line}".rstrip() for line in commit.message.split("\n")]
    return [f"commit {commit.sha}", f"Author: {commit.author}", f"Date:   {commit.date}", "", *said, ""]


def _diff(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    lines: list[str] = []
    for path in sorted(new):
        if old[path] == new[path]:
            continue
        before, after = old[path].splitlines(), new[path].splitlines()
        lines += [f"diff --git a/{path} b/{path}", f"index {_blob(old[path])}..{_blob(new[path])} 100644"]
        for line in unified_diff(before, after, f"a/{path}", f"b/{path}", lineterm=""):
            hunk = _HUNK.match(line)
            lines.append(f"{line}{_heading(before, int(hunk.group(1)))}" if hunk else line)
    return lines


def _heading(before: Sequence[str], start: int) -> str:
    """What git prints after a hunk's range: the nearest line above that begins with a letter."""
    above = [line for line in before[: max(start - 1, 0)] if line[:1].isalpha() or line[:1] == "_"]
    return f" {above[-1]}" if above else ""


def _blob(text: str) -> str:
    """The id git itself gives to this content."""
    data = text.encode()
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()[:7]
