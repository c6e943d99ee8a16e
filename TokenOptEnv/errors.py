"""Everything that can go wrong outside an episode.

A bad *action* is not here: inside an episode it is data (`models.Refusal`), billed and played on.

    CamreError                      one clear line: cause, value, remedy
    ├── UnknownName                 no such scenario, policy, model, catalog, method; offers the nearest
    ├── BadInput                    a value of the right type that cannot be used
    ├── ScenarioInvalid             a scenario that breaks its contract, with the place
    ├── EpisodeNotRunning           step before reset, after the end, or after close
    ├── PlanNotFound                the planner found no plan that solves the case
    ├── SandboxUnavailable          this machine cannot wall in an agent's own patch, so it is not run
    └── BackendFailed               a real model did not answer
        └── CapReached              the next call to one could cost more than is left of the dollar cap
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class CamreError(Exception):
    """A fault the user can act on. Its text is safe to show: no path, no truth, no stack."""


class UnknownName(CamreError):
    def __init__(self, kind: str, value: str, known: Iterable[str], see: str) -> None:
        near = get_close_matches(value[:80], list(known), n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        shown = value if len(value) <= 80 else value[:77] + "..."
        super().__init__(f"no {kind} {shown!r}; {hint}see: {see}")


class BadInput(CamreError):
    pass


class ScenarioInvalid(CamreError):
    pass


class EpisodeNotRunning(CamreError):
    pass


class PlanNotFound(CamreError):
    pass


class SandboxUnavailable(CamreError):
    def __init__(self, cause: str) -> None:
        super().__init__(f"no sandbox for patches here: {cause}; what it needs stands in docs/sandbox.md")


class BackendFailed(CamreError):
    pass


class CapReached(BackendFailed):
    pass
