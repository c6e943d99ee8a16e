"""A repository with a known bad commit, as evidence: its history, the changes, the files they touched.

Git is asked for text and nothing else: no hook, filter, pager or external diff of the repository is run.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from TokenOptEnv.errors import BadInput
from TokenOptEnv.importing.sources import Source, kind_of
from TokenOptEnv.importing.spec import CaseSpec, EvidenceSpec, GitSpec, QuestionSpec, WrongSpec
from TokenOptEnv.importing.text_blocks import plain
from TokenOptEnv.models import ArtifactKind
from TokenOptEnv.scenario import QuestionKind

HISTORY: Final = "history.txt"
CHANGES: Final = "changes.diff"
ENTRY_FACT: Final = "culprit-entry"
CHANGE_FACT: Final = "culprit-change"

_HASH_DIGITS: Final = 12
_SHORTEST_HASH: Final = 7
_BEFORE: Final = 12
_AFTER: Final = 12
_MOST_COMMITS: Final = 40
_LEAST_COMMITS: Final = 3
_MOST_FILES: Final = 8
_MOST_WRONG: Final = 4
_QUOTED_CHARACTERS: Final = 160
_LEAST_QUOTED: Final = 8
_SAFE: Final = ("-c", "core.fsmonitor=false", "-c", "core.quotepath=off", "-c", "core.hooksPath=", "--no-pager")
_FORMAT: Final = "--format=commit %h%nAuthor: %an%nDate:   %ad%n%n%w(0,4,4)%B"
_PLAIN: Final = (
    "--no-walk=unsorted",
    f"--abbrev={_HASH_DIGITS}",
    "--date=iso-strict",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-show-signature",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--unified=3",
    "--first-parent",
    "--diff-merges=first-parent",
)
_FILE_HEAD: Final = re.compile(r"^diff --git a/(.+?) b/(.+)$", re.MULTILINE)
_COMMIT_HEAD: Final = re.compile(rf"^commit ([0-9a-f]{{{_HASH_DIGITS}}})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Commit:
    name: str
    whole_name: str
    changes: str
    """Its part of the diff."""

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(match[2] for match in _FILE_HEAD.finditer(self.changes)))

    def file_of(self, line: str) -> str:
        """The file whose part of the diff a line stands in."""
        return [match[2] for match in _FILE_HEAD.finditer(self.changes, 0, self.changes.index(line))][-1]


def with_history(spec: CaseSpec, folder: Path) -> tuple[CaseSpec, tuple[Source, ...]]:
    """The spec with what the bad commit proves, and its questions where it asks none; and what there is to read."""
    assert spec.git is not None
    repository = folder / spec.git.repository
    if not repository.is_dir():
        raise BadInput(f"there is no folder {spec.git.repository!r}; git.repository is the path of a repository")
    _git(repository, "rev-parse", "--git-dir")
    names = _range(spec.git, repository)
    changes = _git(repository, "log", "--patch", *_PLAIN, _FORMAT, "--end-of-options", *names)
    commits = _commits(changes, names)
    bad = next(commit for commit in commits if commit.whole_name == _resolved(repository, spec.git.bad, "git.bad"))
    if not bad.files:
        raise BadInput(f"git.bad: commit {bad.name} changes no file; name the one that does")
    history = _git(repository, "log", "--stat=100", *_PLAIN, _FORMAT, "--end-of-options", *names)
    sources = (
        Source(HISTORY, ArtifactKind.HISTORY, text=history),
        Source(CHANGES, ArtifactKind.DIFF, text=changes),
        *_files(repository, spec.git, commits, bad),
    )
    return _extended(spec, commits, bad), sources


def _range(git: GitSpec, repository: Path) -> tuple[str, ...]:
    """The commits to look at, the oldest first; the bad one is among them."""
    bad = _resolved(repository, git.bad, "git.bad")
    until = _resolved(repository, git.until, "git.until")
    if git.good is not None:
        good = _resolved(repository, git.good, "git.good")
        names = _git(repository, "rev-list", "--reverse", f"{good}..{until}").split()
        if bad not in names:
            raise BadInput(f"git.bad: {git.bad!r} does not lie between {git.good!r} and {git.until!r}; widen the range")
        at = names.index(bad)
        start = min(max(0, at - _MOST_COMMITS // 2), max(0, len(names) - _MOST_COMMITS))
        names = names[start : start + _MOST_COMMITS]
    else:
        before = _git(repository, "rev-list", f"--max-count={_BEFORE + 1}", bad).split()
        after = _git(repository, "rev-list", "--reverse", f"{bad}..{until}").split()[:_AFTER]
        names = [*reversed(before), *after]
    if len(names) < _LEAST_COMMITS:
        raise BadInput(
            f"the history has {len(names)} commits to choose from; at least {_LEAST_COMMITS} make a question"
        )
    return tuple(names)


def _resolved(repository: Path, revision: str, field: str) -> str:
    try:
        return _git(
            repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
        ).strip()
    except BadInput:
        raise BadInput(f"{field}: there is no commit {revision[:60]!r} in {repository.name!r}; see: git log") from None


def _commits(changes: str, names: Sequence[str]) -> tuple[_Commit, ...]:
    heads = list(_COMMIT_HEAD.finditer(changes))
    ends = [*(head.start() for head in heads[1:]), len(changes)]
    whole = {name[:_HASH_DIGITS]: name for name in names}
    return tuple(
        _Commit(head[1], whole[head[1]], changes[head.start() : end])
        for head, end in zip(heads, ends, strict=True)
        if head[1] in whole
    )


def _files(repository: Path, git: GitSpec, commits: Sequence[_Commit], bad: _Commit) -> tuple[Source, ...]:
    """As they are when the question is asked: those of the bad commit first."""
    paths = dict.fromkeys([*bad.files, *(path for commit in reversed(commits) for path in commit.files)])
    found: list[Source] = []
    until = _resolved(repository, git.until, "git.until")
    for path in paths:
        if len(found) == _MOST_FILES:
            break
        try:
            text = _git(repository, "cat-file", "-p", f"{until}:{path}")
        except BadInput:
            continue  # it was removed or renamed since
        if text and "\0" not in text:
            found.append(Source(path, kind_of(path), text=text))
    return tuple(found)


def _extended(spec: CaseSpec, commits: Sequence[_Commit], bad: _Commit) -> CaseSpec:
    others = _suspects(commits, bad)
    line = _telling_line(commits, bad)
    facts = (
        EvidenceSpec(id=ENTRY_FACT, quote=(f"commit {bad.name}",), why="names the commit"),
        EvidenceSpec(id=CHANGE_FACT, quote=(line,), file=CHANGES, why="what it changed"),
    )
    decoys = tuple(
        EvidenceSpec(id=f"suspect-{commit.name}", quote=(f"commit {commit.name}",), why="another commit of that time")
        for commit in others
    )
    questions = spec.question or _questions(bad, others, bad.file_of(line))
    return spec.model_copy(
        update={"fact": (*spec.fact, *facts), "decoy": (*spec.decoy, *decoys), "question": questions}
    )


def _suspects(commits: Sequence[_Commit], bad: _Commit) -> tuple[_Commit, ...]:
    """Those that touch the same files first, then the nearest in time."""
    at = commits.index(bad)
    others = [commit for commit in commits if commit is not bad]
    others.sort(
        key=lambda commit: (not set(commit.files) & set(bad.files), abs(commits.index(commit) - at), commit.name)
    )
    return tuple(others[:_MOST_WRONG])


def _questions(bad: _Commit, others: Sequence[_Commit], file: str) -> tuple[QuestionSpec, ...]:
    """Of a commit that changes several files any may be named; `file` is the one that a right model names."""
    commit = QuestionSpec(
        id="commit",
        ask="Which commit introduced the failure?",
        answer=(bad.name, bad.whole_name, bad.whole_name[:_SHORTEST_HASH]),
        kind=QuestionKind.CAUSAL,
        needs=(ENTRY_FACT, CHANGE_FACT),
        wrong=tuple(WrongSpec(answer=other.name, decoys=(f"suspect-{other.name}",)) for other in others),
    )
    elsewhere = [path for each in others for path in each.files if path not in bad.files]
    innocent = tuple(dict.fromkeys(elsewhere))[:_MOST_WRONG]
    if len(innocent) < 2:
        return (commit,)
    where = QuestionSpec(
        id="file",
        ask="Which file did {commit} break?",
        answer=tuple(dict.fromkeys([file, *bad.files])),
        kind=QuestionKind.CODE,
        needs=(CHANGE_FACT,),
        wrong=tuple(WrongSpec(answer=path) for path in innocent),
    )
    return commit, where


def _telling_line(commits: Sequence[_Commit], bad: _Commit) -> str:
    """A changed line that stands as rarely as any in all the changes, and of those the longest."""
    everything = "".join(commit.changes for commit in commits)
    changed = [
        line[:_QUOTED_CHARACTERS].rstrip()
        for line in bad.changes.split("\n")
        if line.startswith(("+", "-")) and not line.startswith(("+++", "---")) and len(line.strip()) >= _LEAST_QUOTED
    ]
    if not changed:
        raise BadInput(
            f"git.bad: commit {bad.name} changes no line of text that could be quoted; name facts of your own"
        )
    return min(changed, key=lambda line: (everything.count(line), -len(line), line))


def _git(repository: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *_SAFE, "-C", str(repository), *arguments],
            capture_output=True,
            check=False,
            env={**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"},
        )
    except FileNotFoundError:
        raise BadInput("git is not installed, and a repository cannot be read without it; install git") from None
    if done.returncode:
        told = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ").split("\n")[0]
        raise BadInput(f"git cannot read {repository.name!r}: {told or 'nothing there'}; is it a repository?")
    return plain(done.stdout.decode("utf-8", errors="replace").replace("\r\n", "\n"))
