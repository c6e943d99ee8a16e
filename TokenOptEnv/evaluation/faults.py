"""A fault of a scenario: one line with its place, its cause and what to do."""

from __future__ import annotations

from enum import StrEnum

from TokenOptEnv.models.base import Frozen


class Level(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    """Worth a look; the scenario can be played and graded as it is."""


class Fault(Frozen):
    scenario_id: str
    place: str
    cause: str
    remedy: str
    level: Level = Level.ERROR

    @property
    def line(self) -> str:
        mark = "" if self.level is Level.ERROR else "warning: "
        return f"{mark}{self.scenario_id}: {self.place}: {self.cause}; {self.remedy}"
