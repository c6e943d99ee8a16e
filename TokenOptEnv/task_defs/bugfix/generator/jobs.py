"""Job logs and the archive of nights, in the dialects of different build services."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from TokenOptEnv.config import SEGMENT_CAP_TOKENS, YARDSTICK
from TokenOptEnv.simulators import tokens
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.bugfix.generator.library import modules
from TokenOptEnv.task_defs.bugfix.generator.plot import Night, Plot
from TokenOptEnv.task_defs.bugfix.job_log import Job, JobClock, write_job_log
from TokenOptEnv.task_defs.generation import Split

_LETTERS = {True: ".", False: "F"}
_ROOM_TOKENS = 8
"""What a night's text stays below a segment by."""


@dataclass(frozen=True)
class NightRun:
    """One night as the archive knows it."""

    night: Night
    head: str
    subject: str
    tests: Sequence[tuple[str, str]]
    failing: frozenset[tuple[str, str]]


def is_hosted(plot: Plot) -> bool:
    """Test has a build service of its own."""
    return plot.outline.split is Split.TEST


def head_line(plot: Plot, sha: str) -> str:
    return f"checked out revision {sha} of trunk" if is_hosted(plot) else f"HEAD is now at {sha}"


def last_green_line(plot: Plot, number: int, sha: str) -> str:
    if is_hosted(plot):
        return f"previous success of this workflow: run {number}, revision {sha}"
    return f"last green run of this job: {number} at {sha}"


def watched_line(plot: Plot, run: NightRun) -> str:
    """What the archive says about the one test that is watched night by night: more than a search hit quotes."""
    at, ran = run.night.at, len(run.tests)
    if is_hosted(plot):
        word = "FAIL" if run.night.red else "ok"
        said = f"tracked check: {word}, {at:%Y-%m-%d %H:%M:%S}Z, {ran} checks, revision {run.head}"
        return f"{said}, cron run {run.night.number}"
    word = "RED" if run.night.red else "green"
    said = f"watched test: {word} at {at:%Y-%m-%d %H:%M:%S} among {ran}, with {run.head}"
    return f"{said} ({plot.voice.nightly} {run.night.number})"


def job_log(plot: Plot, draw: Stream, run: NightRun, last_green: tuple[int, str], report: str) -> str:
    runner = f"{draw.choice(plot.voice.runners)}-{draw.integer(1, 24):02d}"
    if is_hosted(plot):
        return _hosted_log(plot, draw, run, last_green, report, runner)
    job = Job(
        name=f"{plot.package}/nightly",
        number=run.night.number,
        runner=runner,
        head=run.head,
        branch="main",
        command="python -m pytest tests -v",
        environment=_environment(plot, draw),
        notices=tuple(
            draw.shuffled(
                [
                    last_green_line(plot, *last_green),
                    f"warning: clock of {runner} was stepped by {draw.integer(-3000, 3000) / 1000:+.3f} s at boot",
                    f"cache: restored .venv (key py311-{draw.hex(4)}, saved {draw.integer(2, 9)} days ago)",
                ]
            )
        ),
        trigger="schedule, every night at 02:00",
    )
    return write_job_log(draw, JobClock(run.night.at), job, report, bool(run.failing))


def archive(plot: Plot, draw: Stream, runs: Sequence[NightRun]) -> str:
    """One night after the other, oldest first, each about as long as a segment."""
    return "\n".join(_night(plot, draw, run) for run in runs) + "\n"


def _night(plot: Plot, draw: Stream, run: NightRun) -> str:
    head = [*_night_head(plot, draw, run), *_progress(run)]
    tail = [watched_line(plot, run), _night_end(plot, run)]
    filler = _filler(plot, draw, run)
    used = tokens.count(YARDSTICK, "\n".join([*head, *tail]) + "\n")
    extra: list[str] = []
    for line in filler:
        cost = tokens.count(YARDSTICK, line + "\n")
        if used + cost <= SEGMENT_CAP_TOKENS - _ROOM_TOKENS:
            extra.append(line)
            used += cost
    cut = draw.integer(0, len(extra))
    return "\n".join([*head, *extra[:cut], tail[0], *extra[cut:], tail[1]])


def _night_head(plot: Plot, draw: Stream, run: NightRun) -> list[str]:
    runner = f"{draw.choice(plot.voice.runners)}-{draw.integer(1, 24):02d}"
    at = run.night.at
    if is_hosted(plot):
        return [
            f"##[group]cron run {run.night.number} {at:%Y-%m-%d %H:%M:%S}Z",
            f"image {runner}, queued {draw.integer(1, 90)} s, revision {run.head} ({run.subject})",
        ]
    return [
        f"========== {plot.voice.nightly} {run.night.number}, {at:%Y-%m-%d %H:%M:%S} ==========",
        f"{runner}, waited {draw.integer(1, 90)} s; {head_line(plot, run.head)} {run.subject}",
    ]


def _progress(run: NightRun) -> list[str]:
    lines = []
    for path in dict.fromkeys(path for path, _ in run.tests):
        letters = "".join(_LETTERS[each not in run.failing] for each in run.tests if each[0] == path)
        lines.append(f"{path} {letters}")
    return lines


def _night_end(plot: Plot, run: NightRun) -> str:
    failed = len(run.failing)
    passed = len(run.tests) - failed
    seconds = 0.05 + 0.01 * len(run.tests)
    if is_hosted(plot):
        return f"{passed} succeeded, {failed} failed, {seconds:.2f} s"
    return f"{f'{failed} failed, ' if failed else ''}{passed} passed in {seconds:.2f}s"


def _filler(plot: Plot, draw: Stream, run: NightRun) -> list[str]:
    """What every build service likes to add."""
    coverage = [f"coverage {path} {draw.integer(86, 100)}%" for path in modules(plot.package)]
    slow = [
        f"slow: {path}::{name} {draw.integer(2, 40) / 100:.2f}s"
        for path, name in draw.shuffled([each for each in run.tests if each not in run.failing])[:8]
    ]
    machine = [
        f"peak memory {draw.integer(90, 320)} MiB, disk {draw.integer(12, 60)} GiB free",
        f"wheel cache: {draw.integer(9, 14)} hits, {draw.integer(0, 2)} misses (key {draw.hex(6)})",
    ]
    return [*draw.shuffled([*coverage, *machine]), *slow]


def _environment(plot: Plot, draw: Stream) -> dict[str, str]:
    zones = ("Europe/Berlin", "Europe/Paris", "UTC", "America/New_York")
    return {
        "CI": "true",
        "HOME": "/home/runner",
        "LANG": "C.UTF-8",
        "NIGHTLY": "1",
        "PYTHONHASHSEED": draw.choice(("0", "random")),
        "PYTHONUNBUFFERED": "1",
        f"{plot.package.upper()}_TEST": "1",
        "TZ": draw.choice(zones),
    }


def _hosted_log(plot: Plot, draw: Stream, run: NightRun, last_green: tuple[int, str], report: str, runner: str) -> str:
    at = run.night.at
    lines: list[str] = []

    def say(*texts: str) -> None:
        nonlocal at
        for text in texts:
            at += timedelta(milliseconds=draw.integer(2, 900))
            lines.append(f"{at:%H:%M:%S}.{at.microsecond // 1000:03d} {text}")

    lines.append(f"##[group]Workflow checks, cron run {run.night.number}")
    say(
        f"image {runner}, provisioner 20{draw.integer(23, 25)}.{draw.integer(1, 12)}.{draw.integer(0, 9)}",
        "event: cron 0 2 * * *",
        f"fetching trunk of {plot.package}, {draw.integer(300, 2900)} objects",
        head_line(plot, run.head),
    )
    say(
        *draw.shuffled(
            [
                last_green_line(plot, *last_green),
                f"##[warning] time drift of {draw.integer(20, 900)} ms corrected",
                f"tool cache: python 3.11.{draw.integer(5, 11)} from {draw.hex(6)}",
            ]
        )
    )
    lines += ["##[endgroup]", "##[group]Dependencies"]
    say(*(f"using cached {name}" for name in draw.shuffled(("attrs", "coverage", "iniconfig", "packaging", "pluggy"))))
    lines += ["##[endgroup]", "##[group]Checks", report.rstrip("\n")]
    say(f"process ended with code {1 if run.failing else 0}")
    lines.append("##[endgroup]")
    return "\n".join(lines) + "\n"
