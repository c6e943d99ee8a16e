"""Milestones: progress that can be named. Process ones follow from what the agent was shown.

Truth milestones need the hidden half and are told at the end only: see `grading`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from TokenOptEnv.episode_state import EpisodeState, evolve
from TokenOptEnv.world import VisibleWorld


def _first_look(state: EpisodeState, visible: VisibleWorld) -> bool:
    """By reading or by searching: were one of them paid for, it would be done for the pay."""
    return bool(state.surfaced)


def _evidence_held(state: EpisodeState, visible: VisibleWorld) -> bool:
    """Read whole by the agent, or by a worker whose finding cites it."""
    return bool(state.read_ids) or _first_finding(state, visible)


def _first_finding(state: EpisodeState, visible: VisibleWorld) -> bool:
    return any(finding.source == "route" and finding.cites for finding in state.findings.values())


def _every_field_found(state: EpisodeState, visible: VisibleWorld) -> bool:
    found = {name for finding in state.findings.values() if finding.source == "route" for name in finding.values}
    return visible.answer_names <= found


def _saved_before_reset(state: EpisodeState, visible: VisibleWorld) -> bool:
    return any(saved.findings and saved.record.phase < len(visible.phases) - 1 for saved in state.checkpoints)


_FIRST_LOOK: Final = "first-look"
_PROCESS: Final[dict[str, Callable[[EpisodeState, VisibleWorld], bool]]] = {
    _FIRST_LOOK: _first_look,
    "evidence-held": _evidence_held,
    "first-finding": _first_finding,
    "every-field-found": _every_field_found,
}
_MARATHON: Final = {"saved-before-reset": _saved_before_reset}


_ALL: Final = {**_PROCESS, **_MARATHON}
_ONE_PHASE: Final = tuple(_PROCESS)
_SEVERAL_PHASES: Final = tuple(_ALL)


def listed_ids(visible: VisibleWorld) -> tuple[str, ...]:
    return _SEVERAL_PHASES if len(visible.phases) > 1 else _ONE_PHASE


def evaluate(before: EpisodeState, state: EpisodeState, visible: VisibleWorld) -> EpisodeState:
    """Add what has been reached; a milestone once reached stays. Where nothing was found, nothing is.

    What is shown counts once, at the first look; what is found, read or noted down may count at any step.
    """
    known = state.milestone_ids
    if (
        state.findings is before.findings
        and state.read_ids is before.read_ids
        and state.checkpoints is before.checkpoints
        and (state.surfaced is before.surfaced or _FIRST_LOOK in known)
    ):
        return state
    listed = listed_ids(visible)
    reached = tuple([name for name in listed if name not in known and _ALL[name](state, visible)])
    return evolve(state, milestone_ids=known + reached) if reached else state
