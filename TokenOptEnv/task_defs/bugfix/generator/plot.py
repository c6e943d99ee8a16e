"""What happened: which bug, who is under suspicion, and the calendar of commits and nights.

The truth decides nothing here but itself. Whether there is a fault, and which of the functions is guilty, leaves the
shape of the story as it is: the same commits at the same times, the same nights, the same talk.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from TokenOptEnv.config import Difficulty
from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.bugfix.generator.library import modules, packages_of
from TokenOptEnv.task_defs.bugfix.generator.verified import Mutant, verified
from TokenOptEnv.task_defs.bugfix.generator.voice import Voice, voice
from TokenOptEnv.task_defs.execution_report import ReportedTest
from TokenOptEnv.task_defs.generation import Outline

_NEIGHBOURS = {Difficulty.EASY: 0, Difficulty.MEDIUM: 1, Difficulty.HARD: 2, Difficulty.MARATHON: 4}
_NIGHTS = {Difficulty.EASY: (5, 6), Difficulty.MEDIUM: (13, 15), Difficulty.HARD: (15, 17), Difficulty.MARATHON: (6, 8)}
_SUSPECTS = 3
_RETOUCHED = 2
"""Suspects that are as much talked of in the history as the guilty function: tidied once, touched once."""


class Role(StrEnum):
    CULPRIT = "culprit"
    """Brought the slip in."""
    SUSPECT = "suspect"
    """Touched a suspect function and changed nothing."""
    TOUCH = "touch"
    """Touched the function of the slip after the red night: took it out again where nothing is at fault now."""
    RETOUCH = "retouch"
    """Touched a suspect function again, likewise after the red night."""
    NOISE = "noise"


@dataclass(frozen=True, slots=True)
class Planned:
    role: Role
    at: datetime
    suspect: int = 0


@dataclass(frozen=True, slots=True)
class Night:
    number: int
    at: datetime
    red: bool
    commits_before: int
    """How many of the planned commits had landed."""


@dataclass(frozen=True)
class Plot:
    outline: Outline
    voice: Voice
    package: str
    neighbours: tuple[str, ...]
    bug: Mutant
    suspects: tuple[Mutant, ...]
    test: ReportedTest
    """The red test that the brief speaks of."""
    version: str
    earlier_version: str
    unchanged_hours: int
    commits: tuple[Planned, ...]
    """Oldest first; more noise may be put before them."""
    nights: tuple[Night, ...]
    """Oldest first; the last is the red one that the brief speaks of."""

    @property
    def faulty(self) -> bool:
        return not self.outline.no_fault

    @property
    def red_night(self) -> Night:
        return self.nights[-1]

    @property
    def first_red(self) -> int:
        """The place of the first night of the red streak that lasts to the end."""
        place = len(self.nights)
        while place and self.nights[place - 1].red:
            place -= 1
        return place

    @property
    def symptom(self) -> str:
        return words_of(self.test)


def words_of(test: ReportedTest) -> str:
    """A test's name as the sentence it is."""
    return test.name.partition("[")[0].removeprefix("test_").replace("_", " ")


def draw_plot(outline: Outline, attempt: int) -> Plot:
    draw = outline.stream("plot", attempt)
    # Not redrawn at an attempt: were it, packages that are often refused would be rarer than others.
    package = outline.stream("package").choice(packages_of(outline.split))
    bugs = [mutant for mutant in verified(package).mutants if mutant.failing and len(mutant.stays) >= _SUSPECTS]
    bug = draw.choice(bugs)
    suspects = _suspects(draw, package, bug)
    others = [name for name in packages_of(outline.split) if name != package]
    minor = draw.integer(1, 9)
    patch = draw.integer(1, 6)
    major = draw.integer(0, 4)
    commits, nights, hours = _calendar(outline, outline.stream("calendar", attempt))
    return Plot(
        outline=outline,
        voice=voice(outline.split),
        package=package,
        neighbours=tuple(draw.shuffled(others)[: _NEIGHBOURS[outline.difficulty]]),
        bug=bug,
        suspects=suspects,
        test=draw.choice(bug.failing),
        version=f"{major}.{minor}.{patch}",
        earlier_version=f"{major}.{minor}.{patch - 1}",
        unchanged_hours=hours,
        commits=commits,
        nights=nights,
    )


def _suspects(draw: Stream, package: str, bug: Mutant) -> tuple[Mutant, ...]:
    """Functions other than the guilty one, each once, spread over the files."""
    found: dict[str, Mutant] = {}
    for mutant_id in draw.shuffled(bug.stays):
        other = verified(package).mutant(mutant_id)
        found.setdefault(f"{other.mutation.path} {other.mutation.function}", other)
    if len(found) < _SUSPECTS:
        raise ScenarioInvalid(f"{bug.mutant_id}: only {len(found)} other functions to suspect")
    order = draw.shuffled(modules(package))
    ranked = sorted(found.values(), key=lambda mutant: order.index(mutant.mutation.path))
    picked = [*ranked[:1], *ranked[-1:], *ranked[1:-1]][:_SUSPECTS]
    return tuple(draw.shuffled(picked))


def _calendar(outline: Outline, draw: Stream) -> tuple[tuple[Planned, ...], tuple[Night, ...], int]:
    """One night a day. Between the last green night and the first red one of the streak stands the culprit: alone
    where every night must be compared, among others where the commits themselves must be read."""
    nights = outline.wide_facts or draw.integer(*_NIGHTS[outline.difficulty])
    phased = outline.difficulty is Difficulty.MARATHON
    first_red = draw.integer(3 if phased else nights // 3, nights - 2)
    gaps: list[list[tuple[Role, int]]] = [[] for _ in range(nights + 1)]
    if phased:
        gaps[first_red] = [(Role.CULPRIT, 0)]
        for number, place in enumerate((first_red + 1, first_red - 1, draw.integer(1, first_red - 1))):
            gaps[place].append((Role.SUSPECT, number))
    elif outline.wide_facts is not None:
        gaps[first_red] = [(Role.CULPRIT, 0)]
        for number in range(_SUSPECTS):
            choices = [place for place in range(1, nights) if abs(place - first_red) in (1, 2)]
            gaps[draw.choice(choices)].append((Role.SUSPECT, number))
    else:
        away = draw.choice([place for place in range(1, nights) if place != first_red])
        gaps[first_red] = draw.shuffled([(Role.CULPRIT, 0), (Role.SUSPECT, 0), (Role.SUSPECT, 1)])
        gaps[away].append((Role.SUSPECT, 2))
    gaps[nights] = draw.shuffled([(Role.TOUCH, 0), *((Role.RETOUCH, number) for number in range(_RETOUCHED))])
    if outline.difficulty is not Difficulty.EASY:
        for place in range(nights):
            if place != first_red and not gaps[place] and draw.chance(0.6):
                gaps[place] = [(Role.NOISE, 0)]
    year, month = draw.choice(voice(outline.split).months)
    day = datetime(year, month, draw.integer(1, 9), 2, 0, tzinfo=UTC)
    number = draw.integer(200, 4800)
    flaky = _flaky(draw, first_red)
    commits: list[Planned] = []
    held: list[Night] = []
    for place, gap in enumerate(gaps):
        commits += _between(draw, day + timedelta(days=place - 1), gap)
        if place < nights:
            held.append(
                Night(
                    number=number + place,
                    at=day + timedelta(days=place, seconds=draw.integer(2, 240)),
                    red=place >= first_red or place == flaky,
                    commits_before=len(commits),
                )
            )
    return tuple(commits), tuple(held), draw.integer(6, 60)


def _flaky(draw: Stream, first_red: int) -> int | None:
    """A night that was red once, before the streak, with green ones on both sides."""
    return draw.integer(1, first_red - 2) if first_red >= 3 else None


def _between(draw: Stream, night: datetime, gap: list[tuple[Role, int]]) -> list[Planned]:
    """Working hours between two nights, in order."""
    seconds = sorted(draw.integer(6 * 3600, 16 * 3600) for _ in gap)
    return [
        Planned(role, night + timedelta(seconds=offset), suspect)
        for (role, suspect), offset in zip(gap, seconds, strict=True)
    ]
