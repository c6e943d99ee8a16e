"""When which commit was run: the past of main, the reported run and its second attempt, and what came after."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.generator.plot import Plot
from TokenOptEnv.task_defs.ci.generator.repository import Repository
from TokenOptEnv.task_defs.ci.writers.history import Commit

_LATE_HOUR = 22


class Part(StrEnum):
    """What a run is in the story."""

    CHAIN = "chain"
    RED = "red"
    """The run that the brief names."""
    AGAIN = "again"
    """Its second attempt."""
    LATER = "later"
    PROBE = "probe"
    """Started by hand at some commits of main, when all that was over."""


@dataclass(frozen=True)
class Plan:
    part: Part
    commit: Commit
    ref: str
    place: int | None
    started: datetime
    attempt: int = 1
    number: int = 0


def schedule(repository: Repository, chain: int, probes: int, draw: Stream) -> list[Plan]:
    """`chain` runs of main before the reported one, and `probes` after everything."""
    planned = _plans(repository, chain, draw)
    return _numbered([*planned, *_probes(repository, planned[-1].started, probes, draw)], draw)


def _plans(repository: Repository, chain: int, draw: Stream) -> list[Plan]:
    plot, commits, last = repository.plot, repository.commits, len(repository.commits) - 1
    if plot is Plot.MENDED:
        mended = next(place for place, each in enumerate(commits) if each.sha == repository.withdrawal.sha)
        red_place: int | None = mended - 1
    elif plot is Plot.SUPERSEDED:
        red_place = last - 1
    else:
        red_place = None if plot.is_elsewhere else last
    good = draw.integer(max(0, repository.hinge - 3), max(0, repository.hinge - 1))
    free = [place for place in range(last if red_place is None else red_place) if place != good]
    places = sorted([good, *draw.shuffled(free)[: chain - 1]])
    if len(places) < chain:
        raise ScenarioInvalid("too few commits for so many runs")
    plans = [Plan(Part.CHAIN, commits[p], "main", p, _soon_after(commits[p], draw)) for p in places]
    on_main = red_place is not None
    red_commit = commits[red_place] if red_place is not None else repository.aside
    started = _soon_after(commits[last] if red_place is None else red_commit, draw)
    late = repository.is_held_out and red_place == last and (plot is Plot.WOBBLE or draw.chance(0.5))
    if late:
        started = started.replace(hour=_LATE_HOUR, minute=draw.integer(2, 58))
    again = started + timedelta(minutes=draw.integer(150, 240) if late else draw.integer(18, 55))
    later = again + timedelta(minutes=draw.integer(25, 140))
    ref = "main" if on_main else repository.aside_ref
    plans.append(Plan(Part.RED, red_commit, ref, red_place, started))
    plans.append(Plan(Part.AGAIN, red_commit, ref, red_place, again, attempt=2))
    if plot.is_elsewhere or plot.is_past:
        after = max(later, _soon_after(commits[last], draw))
        plans.append(Plan(Part.LATER, commits[last], "main", last, after))
    else:
        plans.append(Plan(Part.LATER, repository.aside, repository.aside_ref, None, later))
    return plans


def _probes(repository: Repository, after: datetime, count: int, draw: Stream) -> list[Plan]:
    """Runs by hand: the newest commit, one before the turn, one behind it, and whatever else was tried."""
    if not count:
        return []
    last, hinge = len(repository.commits) - 1, repository.hinge
    wanted = [last, draw.integer(max(0, hinge - 2), hinge - 1), draw.integer(hinge, min(last, hinge + 2))]
    wanted += draw.shuffled(range(last))
    plans = []
    for place in tuple(dict.fromkeys(wanted))[:count]:
        after += timedelta(minutes=draw.integer(3, 12), seconds=draw.integer(0, 59))
        plans.append(Plan(Part.PROBE, repository.commits[place], "main", place, after))
    return plans


def _soon_after(commit: Commit, draw: Stream) -> datetime:
    return commit.change.at + timedelta(minutes=draw.integer(2, 7), seconds=draw.integer(0, 59))


def _numbered(plans: list[Plan], draw: Stream) -> list[Plan]:
    """Numbers in the order of the first attempts, with gaps for runs that nobody kept."""
    number = draw.integer(210, 7_800)
    numbers: dict[Part | datetime, int] = {}
    for plan in sorted((plan for plan in plans if plan.attempt == 1), key=lambda plan: plan.started):
        number += draw.integer(1, 4)
        numbers[plan.started] = number
        numbers[plan.part] = number
    return [replace(plan, number=numbers[Part.RED if plan.attempt > 1 else plan.started]) for plan in plans]
