"""A project's history: innocent commits over real states of a package, and among them the suspects of the plot.

It is made from its end. The last state is the package as its maintainers want it, spoiled where the plot says so;
each step back takes one commit away. So the last state is always good code, and every diff is real.
"""

from __future__ import annotations

import ast

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache

from TokenOptEnv.config import Difficulty
from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.generator import libraries, planted, services
from TokenOptEnv.task_defs.ci.generator.libraries import Library, Release
from TokenOptEnv.task_defs.ci.generator.slip import Slip
from TokenOptEnv.task_defs.ci.generator.planted import Wobble
from TokenOptEnv.task_defs.ci.generator.plot import Plot
from TokenOptEnv.task_defs.ci.generator.projects import KnownSlip, Project, project, projects
from TokenOptEnv.task_defs.ci.generator.services import Pipeline, Service, TestJob
from TokenOptEnv.task_defs.ci.generator.trials import SITE
from TokenOptEnv.task_defs.ci.generator.undo import LOGIC, WORDS, Spot, added_test, read
from TokenOptEnv.task_defs.ci.generator.undo.tests import without_tests
from TokenOptEnv.task_defs.ci.generator.voice import HELD_OUT, TRAIN, Voice
from TokenOptEnv.task_defs.ci.writers.history import Change, Commit, Edit, replay
from TokenOptEnv.task_defs.generation import Outline

LOCK = "requirements/test.lock"
NOTES = "CHANGELOG.md"
_COMMITS = {
    Difficulty.EASY: (8, 10),
    Difficulty.MEDIUM: (15, 19),
    Difficulty.HARD: (34, 40),
    Difficulty.MARATHON: (34, 40),
}
_SHARDS = {Difficulty.EASY: 1, Difficulty.MEDIUM: 2, Difficulty.HARD: 3, Difficulty.MARATHON: 3}
VERBOSE, QUIET = "-v", "-ra"
_FLAGS = ("--maxfail=25", "--maxfail=40", "--maxfail=60")
_HELD_OUT_FLAGS = ("--strict-markers", "--cache-clear", "--color=no")
_UNKNOWN_FLAGS = ("--numprocesses=4", "--timeout=300", "--reruns=2")
_TOOLS = ("coverage==7.{}.{}", "iniconfig==2.1.{}", "packaging==25.{}", "pluggy==1.{}.{}", "pytest==8.{}.{}")
_KINDS = ("docstring", "docstring", "annotations", "annotations", "imports", "test", "test", "note", *LOGIC)
_SEVERAL_SHARE = 0.2
_TRIES = 40
_LATE_SHARE = 0.35
"""How often, whatever the plot, one of the last two commits takes another back."""


class Role(StrEnum):
    """The commits that somebody will suspect."""

    REWRITE = "rewrite"
    SAMPLE = "sample"
    BUMP = "bump"
    PIPELINE = "pipeline"
    WITHDRAWN = "withdrawn"
    """A rewrite that a later commit takes back."""


_HOT = {
    Plot.REGRESSION: Role.REWRITE,
    Plot.WOBBLE: Role.SAMPLE,
    Plot.LIBRARY: Role.BUMP,
    Plot.SELECTION: Role.PIPELINE,
    Plot.OPTION: Role.PIPELINE,
    Plot.MENDED: Role.WITHDRAWN,
}


def hot_role(plot: Plot) -> Role | None:
    return _HOT.get(plot)


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


@dataclass(frozen=True)
class _Setting:
    """What does not change over the history."""

    outline: Outline
    attempt: int
    plot: Plot
    held_out: bool
    project: Project
    service: Service
    voice: Voice
    library: Library
    wobble: Wobble
    known: KnownSlip
    slip_test: str
    versions: tuple[str, str]
    pins: tuple[str, ...]
    size: int
    places: Mapping[Role, int]
    """Counted from 1, as the states after each commit are."""
    withdrawal: int

    def stream(self, *purpose: str | int) -> Stream:
        return self.outline.stream(self.attempt, *purpose)


def build(outline: Outline, plot: Plot, held_out: bool, attempt: int) -> Repository:
    setting = _setting(outline, plot, held_out, attempt)
    states, subjects, rewritten = _states(setting)
    changes = _changes(setting, states, subjects)
    commits = replay(f"{outline.scenario_id}/{attempt}", states[0], changes)
    pipelines = tuple(_pipeline(setting, place) for place in range(1, setting.size + 1))
    suspects = {
        role: Suspect(commits[place - 1], _telling_line(setting, role, commits))
        for role, place in setting.places.items()
    }
    hot = hot_role(plot)
    hinge = setting.places[hot] - 1 if hot else setting.stream("hinge").integer(1, setting.size - 1)
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


def _setting(outline: Outline, plot: Plot, held_out: bool, attempt: int) -> _Setting:
    draw = outline.stream(attempt, "setting")
    chosen = project(draw.choice(projects(outline.split)))
    known = draw.choice(chosen.slips)
    low, high = _COMMITS[outline.difficulty]
    size = max(low, outline.wide_facts + 1) if outline.wide_facts else draw.integer(low, high)
    places, withdrawal = _places(outline.stream(attempt, "places"), plot, size, outline.wide_facts is not None)
    old = f"{draw.integer(1, 4)}.{draw.integer(0, 9)}.{draw.integer(0, 5)}"
    return _Setting(
        outline=outline,
        attempt=attempt,
        plot=plot,
        held_out=held_out,
        project=chosen,
        service=draw.choice(services.HELD_OUT if held_out else services.TRAIN),
        voice=HELD_OUT if held_out else TRAIN,
        library=draw.choice(libraries.HELD_OUT if held_out else libraries.TRAIN),
        wobble=draw.choice(planted.HELD_OUT_WOBBLES if held_out else planted.TRAIN_WOBBLES),
        known=known,
        slip_test=draw.choice(known.failing),
        versions=(old, _newer(old, draw)),
        pins=tuple(tool.format(draw.integer(2, 6), draw.integer(0, 3)) for tool in _TOOLS),
        size=size,
        places=places,
        withdrawal=withdrawal,
    )


def _newer(version: str, draw: Stream) -> str:
    """A step of any size: how far a version moves says nothing about what it breaks."""
    major, minor, patch = (int(part) for part in version.split("."))
    return draw.choice((f"{major + 1}.0.0", f"{major}.{minor + 1}.0", f"{major}.{minor}.{patch + 1}"))


def _places(draw: Stream, plot: Plot, size: int, wide: bool) -> tuple[dict[Role, int], int]:
    """Where the suspects stand, and where the withdrawn one is taken back.

    The guilty one stands anywhere but first, so that a good state comes before it. What was mended was mended late,
    so that the runs before the reported one are older than it, as in every other plot.
    """
    taken: dict[Role, int] = {}
    if plot is Plot.MENDED:
        withdrawal = size if wide else size - draw.integer(0, 1)
        taken[Role.WITHDRAWN] = max(2, withdrawal - draw.integer(1, 3))
    else:
        if (hot := _HOT.get(plot)) is not None:
            taken[hot] = draw.integer(2, size)
        free = [place for place in draw.shuffled(range(1, size + 1)) if place not in taken.values()]
        late = [place for place in (size, size - 1) if place in free]
        if late and draw.chance(_LATE_SHARE):
            free = [late[0], *(place for place in free if place != late[0])]
        taken[Role.WITHDRAWN], withdrawal = sorted(free[:2])
    rest = [place for place in draw.shuffled(range(1, size + 1)) if place not in (*taken.values(), withdrawal)]
    others = [role for role in Role if role not in taken]
    return {**taken, **dict(zip(others, rest, strict=False))}, withdrawal


# The states, from the last to the first


def _states(setting: _Setting) -> tuple[list[dict[str, str]], list[str], tuple[str, str]]:
    """The tree before the first commit and after each, the subject of each, and what the rewrite is about."""
    files = _last_state(setting)
    states = [files]
    subjects: list[str] = []
    withdrawn: tuple[str, str, str] | None = None
    rewritten = ("", "")
    for place in range(setting.size, 0, -1):
        role = next((role for role, at in setting.places.items() if at == place), None)
        draw = setting.stream("commit", place)
        if place == setting.withdrawal:
            path, spoiled, what = _withdrawn_rewrite(setting, files, draw)
            withdrawn = (path, files[path], what)
            files = {**files, path: spoiled}
            subject = ""
        elif role is Role.WITHDRAWN:
            if withdrawn is None:
                raise ScenarioInvalid("a commit was withdrawn before it was made")
            path, text, what = withdrawn
            files = {**files, path: text}
            subject = _subject(setting, draw, "slip", path, what)
            withdrawn = None
        elif role is Role.REWRITE:
            path, text, what, kind = _before_rewrite(setting, files, draw)
            files, rewritten = {**files, path: text}, (path, what)
            subject = _subject(setting, draw, kind, path, what)
        elif role is not None:
            files, subject = _before_suspect(setting, files, role, draw)
        else:
            busy = withdrawn[0] if withdrawn else ""
            files, subject = _before_innocent(setting, files, draw, busy)
        states.append(files)
        subjects.append(subject)
    subjects.reverse()
    made = subjects[setting.places[Role.WITHDRAWN] - 1]
    subjects[setting.withdrawal - 1] = f'Revert "{made}"'
    return states[::-1], subjects, rewritten


def _last_state(setting: _Setting) -> dict[str, str]:
    chosen, held_out = setting.project, setting.held_out
    dropped = [test_id for test_id in setting.known.failing if test_id != setting.slip_test]
    files = dict(chosen.files)
    for path in dict.fromkeys(test_id.partition("::")[0] for test_id in dropped):
        names = [test_id.partition("::")[2].partition("[")[0] for test_id in dropped if test_id.startswith(path)]
        files[path] = without_tests(read(path, files[path]), names)
    wobbles = setting.plot is Plot.WOBBLE
    files[planted.handbook_path(held_out)] = planted.handbook(
        setting.library, chosen.name, chosen.module, chosen.names, held_out
    )
    files[planted.preview_path(held_out)] = planted.preview(chosen.name, held_out)
    files[setting.wobble.path] = setting.wobble.text(chosen.module, chosen.names, wobbles)
    files[LOCK] = _lock(setting, setting.versions[1])
    files[setting.service.pipeline_path] = setting.service.pipeline(_pipeline(setting, setting.size))
    notes = setting.stream("notes").shuffled(setting.voice.notes)
    files[NOTES] = "# Changes\n\n## Next\n\n" + "".join(f"- {note}\n" for note in notes)
    if setting.plot is Plot.REGRESSION:
        slip = setting.known.slip
        files[slip.path] = files[slip.path].replace(slip.old, slip.new)
    return dict(sorted(files.items()))


def _lock(setting: _Setting, version: str) -> str:
    pins = sorted([*setting.pins, f"{setting.library.name}=={version}"])
    return "".join(f"{pin}\n" for pin in pins)


def _pipeline(setting: _Setting, place: int) -> Pipeline:
    """As of one commit. The pipeline's own commit gives one job a flag; in the plot, a wrong one, or a wrong path."""
    draw = setting.stream("pipeline")
    held_out, service, plot = setting.held_out, setting.service, setting.plot
    shards = _SHARDS[setting.outline.difficulty]
    own = [path for path in setting.project.files if path.rpartition("/")[2].startswith("test_")]
    tests = draw.shuffled([*own, planted.handbook_path(held_out)])
    dealt = [tests[number::shards] for number in range(shards)]
    if place >= setting.places[Role.SAMPLE]:
        dealt[0] = [setting.wobble.path, *dealt[0]]
    flags = [""] * shards
    touched = draw.integer(0, shards - 1)
    folder, _, name = dealt[touched][-1].rpartition("/")
    wrong = draw.choice((f"{folder}/unit/{name}", f"{folder}/{name.removesuffix('.py')}s.py"))
    if place >= setting.places[Role.PIPELINE]:
        flags[touched] = draw.choice(_HELD_OUT_FLAGS if held_out else _FLAGS)
        if plot is Plot.OPTION:
            flags[touched] = draw.choice(_UNKNOWN_FLAGS)
        if plot is Plot.SELECTION:
            dealt[touched] = [*dealt[touched][:-1], wrong]
    quiet = setting.outline.difficulty is Difficulty.EASY or (
        setting.outline.wide_facts is not None and setting.outline.difficulty is Difficulty.MEDIUM
    )
    return Pipeline(
        gating=tuple(
            TestJob(name, tuple(paths), flag)
            for name, paths, flag in zip(service.shard_names[:shards], dealt, flags, strict=True)
        ),
        preview=TestJob(service.preview_name, (planted.preview_path(held_out),)),
        options=QUIET if quiet else VERBOSE,
        timeout_min=setting.stream("timeout").integer(8, 30),
        lock=LOCK,
    )


def _before_suspect(setting: _Setting, files: dict[str, str], role: Role, draw: Stream) -> tuple[dict[str, str], str]:
    place = setting.places[role]
    pipeline = {setting.service.pipeline_path: setting.service.pipeline(_pipeline(setting, place - 1))}
    match role:
        case Role.SAMPLE:
            before = {path: text for path, text in files.items() if path != setting.wobble.path}
            return {**before, **pipeline}, _subject(setting, draw, "sample", setting.wobble.path, "")
        case Role.BUMP:
            old, new = setting.versions
            subject = _subject(setting, draw, "bump", LOCK, f"{setting.library.name} {old} -> {new}")
            return {**files, LOCK: _lock(setting, old)}, subject
        case Role.PIPELINE:
            path = setting.service.pipeline_path
            (job,) = [job.name for job in _pipeline(setting, place).gating if job.flag]
            subject = _subject(setting, draw, "pipeline", path, job)
            return {**files, **pipeline}, subject
        case _:
            raise ScenarioInvalid(f"{role.value} is not undone here")


def _before_rewrite(setting: _Setting, files: dict[str, str], draw: Stream) -> tuple[str, str, str, str]:
    """The rewritten file as it was: path, text, function and kind of change."""
    slip = setting.known.slip
    if setting.plot is Plot.REGRESSION:
        if files[slip.path].count(slip.new) != 1:
            raise ScenarioInvalid("a later commit touched the guilty line")
        return slip.path, files[slip.path].replace(slip.new, slip.old), slip.function, "slip"
    path = slip.path if setting.plot is not Plot.MENDED else _module(setting.project, files, draw, slip.path)
    kind, spot = _spot(files, path, draw, tuple(LOGIC))
    return path, spot.before, spot.what, kind


def _withdrawn_rewrite(setting: _Setting, files: dict[str, str], draw: Stream) -> tuple[str, str, str]:
    """The file as the withdrawn commit left it: spoiled in the plot, merely put differently otherwise."""
    slip = setting.known.slip
    if setting.plot is Plot.MENDED:
        if files[slip.path].count(slip.old) != 1:
            raise ScenarioInvalid("a later commit touched the guilty line")
        return slip.path, files[slip.path].replace(slip.old, slip.new), slip.function
    path = _module(setting.project, files, draw, slip.path)
    _, spot = _spot(files, path, draw, tuple(LOGIC))
    return path, spot.before, spot.what


def _before_innocent(setting: _Setting, files: dict[str, str], draw: Stream, busy: str) -> tuple[dict[str, str], str]:
    """One more step back; `busy` is a file that a withdrawn commit holds."""
    for _ in range(_TRIES):
        kind = draw.choice(_KINDS)
        if kind == "note":
            head, _, _ = files[NOTES].rstrip("\n").rpartition("\n- ")
            if "\n- " not in head:
                continue
            return {**files, NOTES: f"{head}\n"}, _subject(setting, draw, "note", NOTES, "")
        path = _test_module(setting, files, draw) if kind == "test" else _module(setting.project, files, draw)
        if path == busy:
            continue
        try:
            kind, spot = _spot(files, path, draw, (kind,), setting.slip_test)
        except ScenarioInvalid:
            continue
        if not _keeps_slip(setting, path, files[path], spot.before):
            continue
        text, count = spot.before, 1
        if kind in LOGIC and draw.chance(_SEVERAL_SHARE):
            text, count = _more_spots(setting, path, text, draw)
        what = spot.what if kind != "test" else spot.what.removeprefix("test_").replace("_", " ")
        return {**files, path: text}, _subject(setting, draw, kind if count == 1 else "several", path, what)
    raise ScenarioInvalid("nothing is left to take back; fewer commits, or a larger package")


def _more_spots(setting: _Setting, path: str, text: str, draw: Stream) -> tuple[str, int]:
    """A loud commit: several small things in one file."""
    count = 1
    for _ in range(draw.integer(2, 4)):
        try:
            _, spot = _spot({path: text}, path, draw, (*LOGIC, *WORDS))
        except ScenarioInvalid:
            continue
        if _keeps_slip(setting, path, text, spot.before):
            text, count = spot.before, count + 1
    return text, count


def _keeps_slip(setting: _Setting, path: str, after: str, before: str) -> bool:
    """The lines of the slip stay as they are: they belong to the guilty commit alone."""
    slip = setting.known.slip
    return path != slip.path or all(
        after.count(f"\n{text}") == before.count(f"\n{text}") for text in (slip.old, slip.new)
    )


def _spot(files: Mapping[str, str], path: str, draw: Stream, kinds: Sequence[str], keep: str = "") -> tuple[str, Spot]:
    kept = keep.partition("::")[2].partition("[")[0]
    for kind in draw.shuffled(kinds):
        if spots := _spots(kind, path, files[path], kept):
            return kind, draw.choice(spots)
    raise ScenarioInvalid(f"nothing of {', '.join(kinds)} to take back in {path}")


@lru_cache(maxsize=4096)
def _spots(kind: str, path: str, text: str, keep: str) -> tuple[Spot, ...]:
    """Kept, because most histories of a package begin at the same last state."""
    source = read(path, text)
    return tuple(added_test(source, (keep,)) if kind == "test" else {**LOGIC, **WORDS}[kind](source))


def _module(chosen: Project, files: Mapping[str, str], draw: Stream, other_than: str = "") -> str:
    modules = [path for path in files if path.startswith(f"{chosen.name}/") and not path.endswith("__init__.py")]
    return draw.choice([path for path in modules if path != other_than])


def _test_module(setting: _Setting, files: Mapping[str, str], draw: Stream) -> str:
    own = [path for path in setting.project.files if path.rpartition("/")[2].startswith("test_")]
    return draw.choice([path for path in own if path in files])


def _subject(setting: _Setting, draw: Stream, kind: str, path: str, what: str) -> str:
    module = path.rpartition("/")[2].removesuffix(".py")
    return draw.choice(setting.voice.subjects[kind]).format(module=module, what=what)


# Commits


def _changes(setting: _Setting, states: Sequence[dict[str, str]], subjects: Sequence[str]) -> list[Change]:
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


def _telling_line(setting: _Setting, role: Role, commits: Sequence[Commit]) -> str:
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
    pairs = [f"{above}\n{below}" for above, below in zip(lines, lines[1:], strict=False) if below in wanted]
    everything = "\n".join(each.diff for each in commits)
    for text in (*(line for line in wanted if not line.startswith("+++")), *pairs):
        if everything.count(text) == 1:
            return text
    raise ScenarioInvalid(f"{role.value} adds no line of its own")


def _aside(setting: _Setting, commits: Sequence[Commit], hinge: int) -> tuple[Commit, str, int]:
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
        path = _module(setting.project, good.files, draw)
        _, spot = _spot(good.files, path, draw, tuple(LOGIC))
        text, what = spot.before, spot.what
    change = Change(
        draw.choice(setting.voice.people),
        good.change.at + timedelta(minutes=draw.integer(11, 50)),
        _subject(setting, draw, "branch", path, what),
        (Edit(path, good.files[path], text),),
    )
    (commit,) = replay(f"{setting.outline.scenario_id}/{setting.attempt}/aside", good.files, (change,))
    author = change.author.split()[0].lower()
    return commit, f"release/{topic}" if setting.held_out else f"{author}/{topic}", place
