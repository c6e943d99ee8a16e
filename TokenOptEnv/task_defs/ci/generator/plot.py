"""Plots: what the red run is red for.

Every case has every suspect: a rewrite, a drawn-sample test, a pinned library that was bumped, a change of the
pipeline, trouble with the hosts, a run that is not main's. The plot makes one of them the cause and leaves the
others harmless, so that having a suspect proves nothing.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from TokenOptEnv.task_defs.ci.answers import FailureClass
from TokenOptEnv.task_defs.generation import Outline, Split


class Plot(StrEnum):
    REGRESSION = "regression"
    WOBBLE = "wobble"
    """A test takes its start from the job."""
    LIBRARY = "library"
    """The bumped library does something else now."""
    SELECTION = "selection"
    """The pipeline asks for a test file that is not there."""
    OPTION = "option"
    """The pipeline passes an option that no installed plugin knows."""
    LOST_HOST = "lost_host"
    MIRROR = "mirror"
    DISK = "disk"
    IMAGE = "image"
    BRANCH = "branch"
    """The red run is a topic branch's."""
    RELEASE_LINE = "release_line"
    """The red run is that of an older line."""
    ALLOWED = "allowed"
    """Only the job that may fail is red."""
    MENDED = "mended"
    """Main was red and no longer is."""
    SUPERSEDED = "superseded"
    """The red run was called off for a newer one, which is good."""

    @property
    def failure_class(self) -> FailureClass:
        return _CLASSES[self]

    @property
    def breaks_setup(self) -> bool:
        """The work is not done: no test comes to an end."""
        return self in (Plot.LOST_HOST, Plot.MIRROR, Plot.DISK, Plot.IMAGE, Plot.SUPERSEDED)

    @property
    def is_past(self) -> bool:
        """The red run is of an older commit of main, and the newest is good."""
        return self in (Plot.MENDED, Plot.SUPERSEDED)

    @property
    def breaks_command(self) -> bool:
        return self in (Plot.SELECTION, Plot.OPTION)

    @property
    def is_elsewhere(self) -> bool:
        """The red run is not main's."""
        return self in (Plot.BRANCH, Plot.RELEASE_LINE)

    @property
    def spoils_code(self) -> bool:
        """Some run of the case executes a slip."""
        return self in (Plot.REGRESSION, Plot.MENDED) or self.is_elsewhere


_CLASSES: Final = {
    Plot.REGRESSION: FailureClass.REGRESSION,
    Plot.WOBBLE: FailureClass.FLAKY_TEST,
    Plot.LIBRARY: FailureClass.DEPENDENCY_UPDATE,
    Plot.SELECTION: FailureClass.CONFIG_ERROR,
    Plot.OPTION: FailureClass.CONFIG_ERROR,
    Plot.LOST_HOST: FailureClass.INFRASTRUCTURE,
    Plot.MIRROR: FailureClass.INFRASTRUCTURE,
    Plot.DISK: FailureClass.INFRASTRUCTURE,
    Plot.IMAGE: FailureClass.INFRASTRUCTURE,
    Plot.BRANCH: FailureClass.NONE,
    Plot.RELEASE_LINE: FailureClass.NONE,
    Plot.ALLOWED: FailureClass.NONE,
    Plot.MENDED: FailureClass.NONE,
    Plot.SUPERSEDED: FailureClass.NONE,
}
_NO_FAULT: Final = {False: (Plot.BRANCH, Plot.ALLOWED), True: (Plot.RELEASE_LINE, Plot.MENDED, Plot.SUPERSEDED)}
_COMMAND: Final = {False: Plot.SELECTION, True: Plot.OPTION}
_SETUP: Final = {False: (Plot.LOST_HOST, Plot.MIRROR), True: (Plot.DISK, Plot.IMAGE)}
_SHARES: Final = (
    (FailureClass.REGRESSION, 0.40),
    (FailureClass.FLAKY_TEST, 0.18),
    (FailureClass.DEPENDENCY_UPDATE, 0.15),
    (FailureClass.CONFIG_ERROR, 0.14),
    (FailureClass.INFRASTRUCTURE, 0.13),
)
"""Of the cases with a fault. A rewrite gone wrong is the commonest cause, and still not the safe guess."""


def is_held_out(outline: Outline) -> bool:
    return outline.split is Split.TEST


def draw_plot(outline: Outline) -> Plot:
    held_out = is_held_out(outline)
    stream = outline.stream("plot")
    if outline.no_fault:
        return stream.choice(_NO_FAULT[held_out])
    match _drawn_class(stream.random()):
        case FailureClass.REGRESSION:
            return Plot.REGRESSION
        case FailureClass.FLAKY_TEST:
            return Plot.WOBBLE
        case FailureClass.DEPENDENCY_UPDATE:
            return Plot.LIBRARY
        case FailureClass.CONFIG_ERROR:
            return _COMMAND[held_out]
        case _:
            return stream.choice(_SETUP[held_out])


def _drawn_class(drawn: float) -> FailureClass:
    for failure_class, share in _SHARES:
        if drawn < share:
            return failure_class
        drawn -= share
    return _SHARES[-1][0]
