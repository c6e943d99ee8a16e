"""The repository's past, told backwards from the code that the case shows.

Every commit is a real difference between two real states. The guilty one and the innocent ones are made by the same
hands: each tidies a function, and one of them slips while it does so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.bugfix.edit import Edit
from TokenOptEnv.task_defs.bugfix.generator import refactor
from TokenOptEnv.task_defs.bugfix.generator.library import modules, test_modules
from TokenOptEnv.task_defs.bugfix.generator.plot import Planned, Plot, Role
from TokenOptEnv.task_defs.bugfix.history import Commit
from TokenOptEnv.task_defs.bugfix.sources import package_files

_MANIFEST = "pyproject.toml"


@dataclass(frozen=True)
class Told:
    """A commit of the past, and the state it left behind."""

    commit: Commit
    role: Role
    at: datetime
    suspect: int
    after: Mapping[str, str]


@dataclass(frozen=True)
class _Undone:
    files: dict[str, str]
    subject: str


class Past:
    """Commits, oldest first. `head` is what the case shows, `tested` what the red night checked out."""

    def __init__(self, plot: Plot, attempt: int) -> None:
        self._plot = plot
        self._key = ("past", attempt)
        self._reserved = {(mutant.mutation.path, mutant.mutation.function) for mutant in (plot.bug, *plot.suspects)}
        self._kept_tests = {test.name.partition("[")[0] for test in plot.bug.failing}
        self._used: dict[str, int] = {}
        self.head = self._head()
        self._state: dict[str, str] = dict(self.head)
        self.told: list[Told] = []
        for place in range(len(plot.commits) - 1, -1, -1):
            self._undo(plot.commits[place], place)

    @property
    def culprit(self) -> Told:
        return next(told for told in self.told if told.role is Role.CULPRIT)

    @property
    def touch(self) -> Told:
        return next(told for told in self.told if told.role is Role.TOUCH)

    def suspect(self, number: int) -> Told:
        return next(told for told in self.told if told.role is Role.SUSPECT and told.suspect == number)

    def checked_out(self, commits_before: int) -> Told:
        """What a night saw that came after so many of the planned commits; older ones lie below them."""
        return self.told[len(self.told) - len(self._plot.commits) + commits_before - 1]

    def go_back(self, at: datetime) -> None:
        """One commit more, before all others: older noise."""
        self._undo(Planned(Role.NOISE, at), -len(self.told) - 1)

    def _head(self) -> dict[str, str]:
        plot = self._plot
        files = dict(package_files(plot.package))
        if plot.faulty:
            files = plot.bug.mutation.planted(files)
        for name in plot.neighbours:
            files |= {path: package_files(name)[path] for path in modules(name)}
        files[_MANIFEST] = _manifest(plot.package, plot.version)
        return files

    def _undo(self, planned: Planned, place: int) -> None:
        draw = self._plot.outline.stream(*self._key, place)
        match planned.role:
            case Role.CULPRIT:
                undone = self._without_slip(draw)
            case Role.SUSPECT:
                under = self._plot.suspects[planned.suspect].mutation
                undone = self._tidied(draw, under.path, under.function, under.right)
            case Role.TOUCH:
                undone = self._touched(draw)
            case Role.RETOUCH:
                under = self._plot.suspects[planned.suspect].mutation
                undone = self._explained(draw, self._state[under.path], under.path, under.function, late=True)
            case Role.NOISE:
                undone = self._noise(draw)
        if undone is None:
            raise ScenarioInvalid(f"{self._plot.bug.mutant_id}: no {planned.role.value} commit fits")
        commit = self._commit(draw, planned, undone)
        self.told.insert(0, Told(commit, planned.role, planned.at, planned.suspect, dict(self._state)))
        self._state = undone.files

    def _commit(self, draw: Stream, planned: Planned, undone: _Undone) -> Commit:
        author = draw.choice(self._plot.voice.people)
        email = f"{author.split()[0].lower()}@{self._plot.package}.example"
        body = f"\n\n{draw.choice(self._plot.voice.bodies)}" if draw.chance(0.6) else ""
        return Commit(
            sha=draw.hex(8),
            author=f"{author} <{email}>",
            date=f"{planned.at:%a %b} {planned.at.day} {planned.at:%H:%M:%S %Y} +0000",
            message=f"{undone.subject}{body}",
            edits=tuple(
                Edit(path, undone.files[path], self._state[path])
                for path in self._state
                if undone.files[path] != self._state[path]
            ),
        )

    def _with(
        self, path: str, text: str | None, wordings: tuple[str, ...], draw: Stream, function: str
    ) -> _Undone | None:
        if text is None or text == self._state[path]:
            return None
        return _Undone({**self._state, path: text}, draw.choice(wordings).format(function=function))

    def _tidied(self, draw: Stream, path: str, function: str, near: tuple[str, ...]) -> _Undone | None:
        """A function as it was before a tidy commit that left its meaning alone."""
        return self._tidy(draw, self._state[path], path, function, near)

    def _tidy(self, draw: Stream, source: str, path: str, function: str, near: tuple[str, ...]) -> _Undone | None:
        voice = self._plot.voice
        ways: list[tuple[Callable[[], str | None], tuple[str, ...]]] = [
            (lambda: refactor.unfolded(source, function, draw, near), voice.unfolded),
            (lambda: refactor.renamed(source, function, draw), voice.renamed),
        ]
        plain: list[tuple[Callable[[], str | None], tuple[str, ...]]] = [
            (lambda: refactor.unfolded(source, function, draw), voice.unfolded)
        ]
        for way, wordings in [*draw.shuffled(ways), *plain]:
            undone = self._with(path, way(), wordings, draw, function)
            if undone is not None:
                return undone
        return None

    def _without_slip(self, draw: Stream) -> _Undone | None:
        """The same tidying, of the function as it was right: what comes out between is the slip."""
        slip = self._plot.bug.mutation
        right = refactor.swapped(self._state[slip.path], slip.function, slip.wrong, slip.right)
        return None if right is None else self._tidy(draw, right, slip.path, slip.function, slip.right)

    def _touched(self, draw: Stream) -> _Undone | None:
        """Words about the function were added after the red night; where nothing is at fault now, the slip went too.

        No line moves, so the report of the red night and the code of today speak of the same lines.
        """
        slip = self._plot.bug.mutation
        source: str | None = self._state[slip.path]
        if not self._plot.faulty:
            source = refactor.swapped(self._state[slip.path], slip.function, slip.right, slip.wrong)
        if source is None:
            return None
        return self._explained(draw, source, slip.path, slip.function, late=True)

    def _explained(self, draw: Stream, source: str, path: str, function: str, late: bool) -> _Undone | None:
        voice = self._plot.voice
        documented = refactor.reworded if late else refactor.undocumented
        ways: list[tuple[Callable[[], str | None], tuple[str, ...]]] = [
            (lambda: documented(source, function, draw), voice.documented),
            (lambda: refactor.unannotated(source, function, draw), voice.annotated),
        ]
        for way, wordings in draw.shuffled(ways):
            undone = self._with(path, way(), wordings, draw, function)
            if undone is not None:
                return undone
        return None

    def _noise(self, draw: Stream) -> _Undone | None:
        """Anything that happens in a repository and has nothing to do with it."""
        for _ in range(24):
            undone = self._one_noise(draw)
            if undone is not None:
                return undone
        return None

    def _one_noise(self, draw: Stream) -> _Undone | None:
        if draw.chance(0.3):
            return self._test_written(draw)
        package = draw.choice((self._plot.package, *self._plot.neighbours))
        path = draw.choice(modules(package))
        function = draw.choice(list(refactor.functions(self._state[path])))
        used = self._used.get(f"{path} {function}", 0)
        if (path, function) in self._reserved or used >= 2:
            return None
        self._used[f"{path} {function}"] = used + 1
        if draw.chance(0.5):
            return self._tidied(draw, path, function, ())
        return self._explained(draw, self._state[path], path, function, late=False)

    def _test_written(self, draw: Stream) -> _Undone | None:
        path = draw.choice(test_modules(self._plot.package))
        tests = [
            name
            for name in refactor.functions(self._state[path])
            if name.startswith("test_") and name not in self._kept_tests
        ]
        if len(tests) < 5:
            return None
        name = draw.choice(tests)
        words = name.removeprefix("test_").replace("_", " ")
        text = refactor.untested(self._state[path], name)
        if text is None:
            return None
        return _Undone({**self._state, path: text}, draw.choice(self._plot.voice.tested).format(words=words))


def _manifest(package: str, version: str) -> str:
    return f'[project]\nname = "{package}"\nversion = "{version}"\nrequires-python = ">=3.11"\ndependencies = []\n'
