"""A commit history over real file states: every diff is computed from the files before and after."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import unified_diff
from hashlib import blake2b

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.streams import Stream

_HUNK = re.compile(r"^@@ -(\d+)")
_SHA_DIGITS = 8


@dataclass(frozen=True)
class Edit:
    """One exact replacement in a file; with an empty `old`, a new file."""

    path: str
    old: str
    new: str

    def apply(self, files: Mapping[str, str]) -> dict[str, str]:
        """The occurrence must be unique: an edit that could land elsewhere is a slip of the author."""
        before = files.get(self.path, "")
        if not self.old:
            if before:
                raise ScenarioInvalid(f"edit would create {self.path!r}, which exists; give the text to replace")
            return dict(sorted({**files, self.path: self.new}.items()))
        if before.count(self.old) != 1:
            times = before.count(self.old)
            raise ScenarioInvalid(f"edit of {self.path!r}: {self.old!r} occurs {times} times, not once")
        return {**files, self.path: before.replace(self.old, self.new)}


@dataclass(frozen=True)
class Change:
    """What somebody did, before it has an id."""

    author: str
    at: datetime
    subject: str
    edits: tuple[Edit, ...]
    body: str = ""


@dataclass(frozen=True)
class Commit:
    sha: str
    change: Change
    files: Mapping[str, str]
    """The whole tree after this commit."""
    diff: str

    @property
    def subject(self) -> str:
        return self.change.subject


def replay(name: str, base: Mapping[str, str], changes: Sequence[Change]) -> tuple[Commit, ...]:
    """Apply `changes` to `base`, oldest first. An id hangs on its parent's, as in a real history."""
    commits: list[Commit] = []
    files = dict(base)
    parent = ""
    for change in changes:
        before = files
        for edit in change.edits:
            files = edit.apply(files)
        parent = Stream("ci", "commit", name, parent, change.subject).hex(_SHA_DIGITS)
        commits.append(Commit(sha=parent, change=change, files=files, diff=tree_diff(before, files, f"({parent})")))
    return tuple(commits)


def tree_diff(before: Mapping[str, str], after: Mapping[str, str], revision: str = "") -> str:
    """What `git diff` prints between two trees.

    `revision` goes behind the name of each new file, as review tools print it: a reader who is shown the second
    file of a commit without its head still knows whose change it is.
    """
    pieces = []
    for path in sorted({*before, *after}):
        old, new = before.get(path, ""), after.get(path, "")
        if old == new:
            continue
        created = path not in before
        pieces.append(f"diff --git a/{path} b/{path}\n")
        if created:
            pieces.append(f"new file mode 100644\nindex {'0' * 7}..{_blob(new)}\n")
        else:
            pieces.append(f"index {_blob(old)}..{_blob(new)} 100644\n")
        source = "/dev/null" if created else f"a/{path}"
        old_lines = old.splitlines(keepends=True)
        for line in unified_diff(old_lines, new.splitlines(keepends=True), source, f"b/{path}", tofiledate=revision):
            hunk = _HUNK.match(line)
            pieces.append(f"{line.rstrip()} {_enclosing(old_lines, int(hunk[1]))}".rstrip() + "\n" if hunk else line)
    return "".join(pieces)


def oneline(commits: Sequence[Commit]) -> str:
    """`git log --format='%h %as %an  %s'`, newest first."""
    return "".join(
        f"{commit.sha} {commit.change.at:%Y-%m-%d} {commit.change.author.split()[0].lower()}  {commit.subject}\n"
        for commit in reversed(commits)
    )


def patches(commits: Sequence[Commit]) -> str:
    """`git log -p --date=short`, newest first."""
    return "\n".join(_patch(commit) for commit in reversed(commits))


def _patch(commit: Commit) -> str:
    change = commit.change
    message = [change.subject, *(["", *change.body.split("\n")] if change.body else [])]
    return "\n".join(
        [
            f"commit {commit.sha}",
            f"Author: {change.author}",
            f"Date:   {change.at:%Y-%m-%d}",
            "",
            *(f"    {line}".rstrip() for line in message),
            "",
            commit.diff,
        ]
    )


def _blob(text: str) -> str:
    return blake2b(text.encode(), digest_size=4).hexdigest()[:7]


def _enclosing(lines: Sequence[str], hunk_start: int) -> str:
    """The last line above the hunk that begins in the first column: git prints it after the `@@`."""
    for line in reversed(lines[: hunk_start - 1]):
        if line[0].isalpha() or line[0] == "_":
            return line.rstrip()[:60]
    return ""
