"""What lies on the table: code, tests, the red night's log, the archive of nights, history, talk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from TokenOptEnv.config import YARDSTICK, Difficulty
from TokenOptEnv.models import ArtifactKind
from TokenOptEnv.simulators import tokens
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.bugfix.generator import jobs
from TokenOptEnv.task_defs.bugfix.generator.library import modules, test_modules
from TokenOptEnv.task_defs.bugfix.generator.past import Past, Told
from TokenOptEnv.task_defs.bugfix.generator.plot import Night, Plot
from TokenOptEnv.task_defs.bugfix.generator.report import failures_of, present, report_of
from TokenOptEnv.task_defs.bugfix.generator.talk import Talk, as_chat, as_comments, hold_talk, ticket
from TokenOptEnv.task_defs.bugfix.generator.verified import verified
from TokenOptEnv.task_defs.bugfix.history import log_with_diffs
from TokenOptEnv.task_defs.bugfix.sources import package_files

_SIZE_TOKENS = {
    Difficulty.EASY: (7_200, 9_600),
    Difficulty.MEDIUM: (18_200, 23_000),
    Difficulty.HARD: (26_500, 34_000),
    Difficulty.MARATHON: (63_000, 74_000),
}
"""How much there should be to read; older commits are added until there is."""
_MOST_OLDER = 140
_LOGS_KEPT = {Difficulty.HARD: 2, Difficulty.MARATHON: 4}
"""Full logs of other nights, besides the red one."""
RUNS, CODE, HISTORY = "runs", "code", "history"
"""What a marathon's phases are about."""


@dataclass(frozen=True)
class Exhibit:
    artifact_id: str
    kind: ArtifactKind
    title: str
    text: str
    phase: str
    """Of a marathon; elsewhere everything lies on the table at once."""


@dataclass(frozen=True)
class Table:
    """Everything that is laid out, and what was put into it on purpose."""

    past: Past
    talk: Talk
    runs: tuple[jobs.NightRun, ...]
    exhibits: tuple[Exhibit, ...]
    job_id: str
    talk_id: str
    history_id: str
    archive_id: str | None
    tests_id: str
    symptom_id: str
    """Where the red test's failure is printed for those who look at the code."""

    def of_phase(self, phase: str) -> tuple[str, ...]:
        return tuple(exhibit.artifact_id for exhibit in self.exhibits if exhibit.phase == phase)

    def text(self, artifact_id: str) -> str:
        return next(exhibit.text for exhibit in self.exhibits if exhibit.artifact_id == artifact_id)

    def code_id(self, path: str) -> str:
        return next(e.artifact_id for e in self.exhibits if e.title == path)

    @property
    def last_green(self) -> jobs.NightRun:
        """The last green night before the red streak."""
        green = [run for run in self.runs if not run.night.red]
        return green[-1]


def lay_out(plot: Plot, attempt: int) -> Table:
    past = Past(plot, attempt)
    past.go_back(past.told[0].at - timedelta(hours=plot.outline.stream("older", attempt, 0).integer(5, 40)))
    talk = hold_talk(plot, past, plot.outline.stream("talk", attempt))
    with_archive = plot.outline.difficulty is not Difficulty.EASY or plot.outline.wide_facts is not None
    fixed = _without_history(plot, past, talk, attempt, with_archive)
    _grow_older(plot, past, sum(tokens.count(YARDSTICK, e.text) for e in fixed), attempt)
    exhibits = (*fixed, *_history(plot, past))
    order = plot.outline.stream("order", attempt).shuffled(exhibits)
    return Table(
        past=past,
        talk=talk,
        runs=_runs(plot, past),
        exhibits=tuple(order),
        job_id=f"job-{plot.red_night.number}",
        talk_id="chat" if any(e.artifact_id == "chat" for e in exhibits) else "ticket",
        history_id="history",
        archive_id="nights" if with_archive else None,
        tests_id="tests",
        symptom_id="failures" if _is_phased(plot) else f"job-{plot.red_night.number}",
    )


def _runs(plot: Plot, past: Past) -> tuple[jobs.NightRun, ...]:
    return tuple(_run(plot, past, night) for night in plot.nights)


def _run(plot: Plot, past: Past, night: Night) -> jobs.NightRun:
    """A night of the lasting streak fails all that the slip breaks; one red night before it, the watched test alone."""
    told = past.checked_out(night.commits_before)
    tests = present(verified(plot.package), told.after)
    lasting = night.number >= plot.nights[plot.first_red].number
    failing = plot.bug.failing if lasting else (plot.test,) if night.red else ()
    return jobs.NightRun(
        night=night,
        head=told.commit.sha,
        subject=told.commit.subject,
        tests=tests,
        failing=frozenset((test.path, test.name) for test in failing),
    )


def _without_history(plot: Plot, past: Past, talk: Talk, attempt: int, with_archive: bool) -> list[Exhibit]:
    runs = _runs(plot, past)
    exhibits = [*_code(plot, past), *_papers(plot, talk, attempt)]
    exhibits.append(_job(plot, past, runs, len(runs) - 1, plot.outline.stream("job", attempt)))
    for place in _kept_logs(plot, plot.outline.stream("kept", attempt), runs):
        exhibits.append(_job(plot, past, runs, place, plot.outline.stream("job", attempt, place)))
    if with_archive:
        text = jobs.archive(plot, plot.outline.stream("archive", attempt), runs)
        title = f"Archive: {plot.voice.nightly} {runs[0].night.number} to {runs[-1].night.number}"
        exhibits.append(Exhibit("nights", ArtifactKind.TEST_REPORT, title, text, RUNS))
    return exhibits


def _code(plot: Plot, past: Past) -> list[Exhibit]:
    tests = _joined(past.head, test_modules(plot.package))
    exhibits = [
        *(
            Exhibit(f"code-{_stem(path)}", ArtifactKind.CODE, path, past.head[path], CODE)
            for path in modules(plot.package)
        ),
        Exhibit("tests", ArtifactKind.CODE, "Test modules, one after the other", tests, CODE),
    ]
    for name in plot.neighbours:
        paths = (*modules(name), *(test_modules(name) if _is_phased(plot) else ()))
        text = _joined(package_files(name), paths)
        exhibits.append(Exhibit(f"libs-{name}", ArtifactKind.CODE, f"{name}, all modules", text, CODE))
    if _is_phased(plot):
        shown = plot.bug.mutation.planted(package_files(plot.package))
        text = failures_of(verified(plot.package), plot.bug, shown)
        title = f"Failing tests of {plot.voice.nightly} {plot.red_night.number}, run alone"
        exhibits.append(Exhibit("failures", ArtifactKind.TEST_REPORT, title, text, CODE))
    return exhibits


def _papers(plot: Plot, talk: Talk, attempt: int) -> list[Exhibit]:
    draw = plot.outline.stream
    said = ticket(plot, draw("ticket", attempt))
    title = f"Ticket about {plot.voice.nightly} {plot.red_night.number}"
    if plot.outline.difficulty is Difficulty.MEDIUM:
        said += as_comments(plot, talk, draw("comments", attempt))
        return [Exhibit("ticket", ArtifactKind.TICKET, title, said, RUNS)]
    chat = as_chat(plot, talk, draw("chat", attempt))
    return [
        Exhibit("ticket", ArtifactKind.TICKET, title, said, RUNS),
        Exhibit("chat", ArtifactKind.CHAT, f"#{plot.package}-dev, the day after", chat, CODE),
    ]


def _kept_logs(plot: Plot, draw: Stream, runs: Sequence[jobs.NightRun]) -> list[int]:
    """Green nights: a red one would print lines that have moved since."""
    green = [place for place, run in enumerate(runs) if not run.failing and place]
    return sorted(draw.shuffled(green)[: _LOGS_KEPT.get(plot.outline.difficulty, 0)])


def _job(plot: Plot, past: Past, runs: Sequence[jobs.NightRun], place: int, draw: Stream) -> Exhibit:
    run = runs[place]
    records = verified(plot.package)
    state = past.checked_out(run.night.commits_before).after
    shown = plot.bug.mutation.planted(package_files(plot.package))
    report = report_of(records, state, plot.bug if run.failing else None, shown, _other_tests(plot))
    before = [each for each in runs[:place] if not each.failing]
    last = before[-1] if before else runs[0]
    text = jobs.job_log(plot, draw, run, (last.night.number, last.head), report)
    number = run.night.number
    return Exhibit(f"job-{number}", ArtifactKind.TEST_REPORT, f"Log of {plot.voice.nightly} {number}", text, RUNS)


def _other_tests(plot: Plot) -> list[tuple[str, str]]:
    """A marathon's nights run the tests of all packages."""
    if not _is_phased(plot):
        return []
    return [(f"libs/{name}/{path}", test) for name in plot.neighbours for path, test in verified(name).tests]


def _history(plot: Plot, past: Past) -> list[Exhibit]:
    text = "\n\n".join(_entry(told) for told in reversed(past.told)) + "\n"
    return [Exhibit("history", ArtifactKind.DIFF, f"git log -p, {len(past.told)} commits", text, HISTORY)]


def _entry(told: Told) -> str:
    return log_with_diffs(told.after, (told.commit,)).rstrip("\n")


def _grow_older(plot: Plot, past: Past, fixed_tokens: int, attempt: int) -> None:
    low, high = _SIZE_TOKENS[plot.outline.difficulty]
    wanted = plot.outline.stream("size", attempt).integer(low, high)
    draw = plot.outline.stream("older", attempt)
    at = past.told[0].at
    size = fixed_tokens + sum(tokens.count(YARDSTICK, _entry(told)) for told in past.told)
    for _ in range(_MOST_OLDER):
        if size >= wanted:
            return
        at -= timedelta(minutes=draw.integer(90, 2600))
        past.go_back(at)
        size += tokens.count(YARDSTICK, _entry(past.told[0]))


def _is_phased(plot: Plot) -> bool:
    return plot.outline.difficulty is Difficulty.MARATHON


def _joined(files: Mapping[str, str], paths: Sequence[str]) -> str:
    return "\n\n".join(f"# {path}\n{files[path]}" for path in paths)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".py")
