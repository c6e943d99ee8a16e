"""A project with its history: innocent commits over real states of a package, and among them the suspects."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.task_defs.ci.generator import planted
from TokenOptEnv.task_defs.ci.generator.libraries import Library, Release
from TokenOptEnv.task_defs.ci.generator.past import states_of
from TokenOptEnv.task_defs.ci.generator.planted import Wobble
from TokenOptEnv.task_defs.ci.generator.plot import Plot
from TokenOptEnv.task_defs.ci.generator.projects import Project
from TokenOptEnv.task_defs.ci.generator.roles import Role, hot_role
from TokenOptEnv.task_defs.ci.generator.services import Pipeline, Service
from TokenOptEnv.task_defs.ci.generator.setting import Setting, draw_setting
from TokenOptEnv.task_defs.ci.generator.slip import Slip
from TokenOptEnv.task_defs.ci.generator.takebacks import draw_module, draw_subject, find_spot
from TokenOptEnv.task_defs.ci.generator.trees import LOCK, pipeline_at
from TokenOptEnv.task_defs.ci.generator.trials import SITE
from TokenOptEnv.task_defs.ci.generator.undo import LOGIC, read
from TokenOptEnv.task_defs.ci.generator.voice import HELD_OUT, Voice
from TokenOptEnv.task_defs.ci.writers.history import Change, Commit, Edit, replay
from TokenOptEnv.task_defs.generation import Outline


@dataclass(frozen=True, slots=True)
class Suspect:
    commit: Commit
    line: str
    """A line of its diff that tells what it does."""


@dataclass(frozen=True)
class Repository:
    project: Project
    service: Service
    voice: Voice
    library: Library
    wobble: Wobble
    plot: Plot
    slip: Slip
    slip_test: str
    """The id of the test that the slip breaks."""
    rewritten: tuple[str, str]
    """Path and function of the suspected rewrite."""
    commits: tuple[Commit, ...]
    suspects: Mapping[Role, Suspect]
    withdrawal: Commit
    hinge: int
    """Where the plot turns, counted from 0: the guilty commit, if there is one."""
    pipelines: tuple[Pipeline, ...]
    """After each commit."""
    aside: Commit
    """The head of what is not main."""
    aside_ref: str
    aside_place: int
    """Of the commit that it branched off."""
    versions: tuple[str, str]
    """Of the pinned library, before and after its bump."""

    @property
    def head(self) -> Commit:
        return self.commits[-1]

    @property
    def guilty(self) -> Commit | None:
        role = hot_role(self.plot)
        return None if role in (None, Role.WITHDRAWN) else self.suspects[role].commit

    @property
    def handbook_test(self) -> str:
        return f"{planted.handbook_path(self.is_held_out)}::{self.library.test}"

    @property
    def preview_test(self) -> str:
        held_out = self.is_held_out
        return f"{planted.preview_path(held_out)}::{planted.preview_test(held_out)}"

    @property
    def other_tests(self) -> tuple[str, ...]:
        """Tests of the package itself, as a listing at the head shows them; parametrised ones left out."""
        return tuple(
            f"{path}::{node.name}"
            for path, text in self.head.files.items()
            if path in self.project.files and path.rpartition("/")[2].startswith("test_")
            for node in read(path, text).tree.body
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test") and not node.decorator_list
        )

    @property
    def is_held_out(self) -> bool:
        return self.voice is HELD_OUT

    def installed(self, commit: Commit) -> dict[str, str]:
        """The library that the commit's lock file pins, where a job finds it."""
        bumped = f"{self.library.name}=={self.versions[1]}\n" in commit.files[LOCK]
        newer = Release.CHANGED if self.plot is Plot.LIBRARY else Release.SAME
        return {f"{SITE}/{self.library.name}.py": self.library.text(newer if bumped else Release.OLD)}


def build(outline: Outline, plot: Plot, held_out: bool, attempt: int) -> Repository:
    setting = draw_setting(outline, plot, held_out, attempt)
    states, subjects, rewritten = states_of(setting)
    changes = _changes(setting, states, subjects)
    commits = replay(f"{outline.scenario_id}/{attempt}", states[0], changes)
    pipelines = tuple(pipeline_at(setting, place) for place in range(1, setting.size + 1))
    suspects = {
        role: Suspect(commits[place - 1], _telling_line(setting, role, commits))
        for role, place in setting.places.items()
    }
    hot = hot_role(plot)
    hinge = setting.places[hot] - 1 if hot else setting.stream("hinge").integer(1, setting.size - 2)
    aside, aside_ref, aside_place = _aside(setting, commits, hinge)
    return Repository(
        project=setting.project,
        service=setting.service,
        voice=setting.voice,
        library=setting.library,
        wobble=setting.wobble,
        plot=plot,
        slip=setting.known.slip,
        slip_test=setting.slip_test,
        rewritten=rewritten,
        commits=commits,
        suspects=suspects,
        withdrawal=commits[setting.withdrawal - 1],
        hinge=hinge,
        pipelines=pipelines,
        aside=aside,
        aside_ref=aside_ref,
        aside_place=aside_place,
        versions=setting.versions,
    )


# Commits


def _changes(setting: Setting, states: Sequence[dict[str, str]], subjects: Sequence[str]) -> list[Change]:
    draw = setting.stream("calendar")
    at = datetime(2026, draw.integer(3, 10), draw.integer(1, 20), 9, draw.integer(0, 59), tzinfo=UTC)
    people = draw.shuffled(setting.voice.people)[:5]
    changes = []
    longest_min = 260 if setting.size < 25 else 150
    for place, subject in enumerate(subjects, start=1):
        at += timedelta(minutes=draw.integer(9, longest_min), seconds=draw.integer(0, 59))
        if at.hour >= 18:
            at = (at + timedelta(days=1)).replace(hour=8, minute=draw.integer(5, 55))
        author = setting.voice.bot if place == setting.places[Role.BUMP] else draw.choice(people)
        before, after = states[place - 1], states[place]
        edits = tuple(
            Edit(path, before.get(path, ""), after[path]) for path in after if before.get(path) != after[path]
        )
        changes.append(Change(author, at, subject, edits))
    return changes


def _telling_line(setting: Setting, role: Role, commits: Sequence[Commit]) -> str:
    """What a commit adds and no other does: one line, or two where one alone is not its own."""
    commit = commits[setting.places[role] - 1]
    slip = setting.known.slip
    spoiled = {Plot.REGRESSION: Role.REWRITE, Plot.MENDED: Role.WITHDRAWN}.get(setting.plot) is role
    if spoiled:
        old, new = slip.old.split("\n"), slip.new.split("\n")
        wanted = [f"+{line}" for line in new if line and line not in old]
    elif role is Role.SAMPLE:
        wanted = [f"+{setting.wobble.start(len(setting.project.names), setting.plot is Plot.WOBBLE)}"]
    else:
        wanted = [line for line in commit.diff.split("\n") if line.startswith("+") and len(line.strip("+ ")) > 8]
        if role is Role.PIPELINE:
            wanted = [line for line in wanted if "pytest" in line]
    lines = commit.diff.split("\n")
    pairs = [f"{above}\n{below}" for above, below in pairwise(lines) if below in wanted]
    everything = "\n".join(each.diff for each in commits)
    for text in (*(line for line in wanted if not line.startswith("+++")), *pairs):
        if everything.count(text) == 1:
            return text
    raise ScenarioInvalid(f"{role.value} adds no line of its own")


def _aside(setting: Setting, commits: Sequence[Commit], hinge: int) -> tuple[Commit, str, int]:
    """A commit that is not main's: spoiled where the red run is its, and good otherwise."""
    draw = setting.stream("aside")
    slip = setting.known.slip
    place = draw.integer(0, max(0, hinge - 1))
    good = commits[place]
    topic = draw.choice(setting.voice.topics)
    if setting.plot.is_elsewhere:
        if good.files[slip.path].count(slip.old) != 1:
            raise ScenarioInvalid("the slip does not fit the branch")
        text, what = good.files[slip.path].replace(slip.old, slip.new), slip.function
        path = slip.path
    else:
        path = draw_module(setting.project, good.files, draw)
        _, spot = find_spot(good.files, path, draw, tuple(LOGIC))
        text, what = spot.before, spot.what
    change = Change(
        draw.choice(setting.voice.people),
        good.change.at + timedelta(minutes=draw.integer(11, 50)),
        draw_subject(setting, draw, "branch", path, what),
        (Edit(path, good.files[path], text),),
    )
    (commit,) = replay(f"{setting.outline.scenario_id}/{setting.attempt}/aside", good.files, (change,))
    author = change.author.split()[0].lower()
    return commit, f"release/{topic}" if setting.held_out else f"{author}/{topic}", place
