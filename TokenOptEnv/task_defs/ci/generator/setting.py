"""What does not change over the history of a case: package, service, people, and where the suspects stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from TokenOptEnv.config import Difficulty
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.generator import libraries, planted, services
from TokenOptEnv.task_defs.ci.generator.libraries import Library
from TokenOptEnv.task_defs.ci.generator.planted import Wobble
from TokenOptEnv.task_defs.ci.generator.plot import Plot
from TokenOptEnv.task_defs.ci.generator.projects import KnownSlip, Project, project, projects
from TokenOptEnv.task_defs.ci.generator.roles import Role, hot_role
from TokenOptEnv.task_defs.ci.generator.services import Service
from TokenOptEnv.task_defs.ci.generator.voice import HELD_OUT, TRAIN, Voice
from TokenOptEnv.task_defs.generation import Outline

_COMMITS = {
    Difficulty.EASY: (8, 10),
    Difficulty.MEDIUM: (15, 19),
    Difficulty.HARD: (34, 40),
    Difficulty.MARATHON: (34, 40),
}
_TOOLS = ("coverage==7.{}.{}", "iniconfig==2.1.{}", "packaging==25.{}", "pluggy==1.{}.{}", "pytest==8.{}.{}")
_LATE_SHARE = 0.35
"""How often, whatever the plot, one of the last two commits takes another back."""


@dataclass(frozen=True)
class Setting:
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


def draw_setting(outline: Outline, plot: Plot, held_out: bool, attempt: int) -> Setting:
    draw = outline.stream(attempt, "setting")
    chosen = project(draw.choice(projects(outline.split)))
    known = draw.choice(chosen.slips)
    low, high = _COMMITS[outline.difficulty]
    size = max(low, outline.wide_facts + 1) if outline.wide_facts else draw.integer(low, high)
    places, withdrawal = _places(outline.stream(attempt, "places"), plot, size, outline.wide_facts is not None)
    old = f"{draw.integer(1, 4)}.{draw.integer(0, 9)}.{draw.integer(0, 5)}"
    return Setting(
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
        if (hot := hot_role(plot)) is not None:
            taken[hot] = draw.integer(2, size)
        free = [place for place in draw.shuffled(range(1, size + 1)) if place not in taken.values()]
        late = [place for place in (size, size - 1) if place in free]
        if late and draw.chance(_LATE_SHARE):
            free = [late[0], *(place for place in free if place != late[0])]
        taken[Role.WITHDRAWN], withdrawal = sorted(free[:2])
    rest = [place for place in draw.shuffled(range(1, size + 1)) if place not in (*taken.values(), withdrawal)]
    others = [role for role in Role if role not in taken]
    return {**taken, **dict(zip(others, rest, strict=False))}, withdrawal
