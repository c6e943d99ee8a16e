"""The machine a bench ran on: a figure without it says nothing, and a ratio without its load says little."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from TokenOptEnv.models.base import Frozen


class Machine(Frozen):
    processor: str
    cores: int
    """Those that this process may use."""
    python: str
    system: str
    load: float | None
    """Processes that wanted a core when the bench began, over the last minute. Near the cores: figures are of a busy
    machine, and only ratios of one run mean something."""

    def line(self) -> str:
        busy = "" if self.load is None else f", load {self.load:.1f}"
        return f"{self.processor}, {self.cores} cores{busy}; Python {self.python}; {self.system}"


def this_machine() -> Machine:
    return Machine(
        processor=_processor(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        load=round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
    )


def _processor() -> str:
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        told = ""
    named = (line.split(":", 1)[1].strip() for line in told.splitlines() if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
