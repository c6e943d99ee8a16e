"""Writes a session's observations as JSON, each part once.

OpenEnv's own server turns an observation into dicts, checks those and then writes JSON, which takes as long as
playing the step. But from one step to the next most of an observation is the same: its values are frozen and shared,
so what is the very same as last time is written from memory, and a list that has grown is written from where it grew.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter
from pydantic_core import to_json

from TokenOptEnv.models import (
    ArtifactHandle,
    EpisodeStamp,
    Finding,
    GuardrailEvent,
    LegalAction,
    MemoryItem,
    ModelCard,
    RouteRecord,
    SegmentHandle,
    TaskBrief,
    TokenOptEnvObservation,
)
from TokenOptEnv.models.base import Frozen


class _Lasting(Frozen):
    """What changes with the phase or the episode."""

    stamp: EpisodeStamp
    task: TaskBrief
    artifacts: tuple[ArtifactHandle, ...]
    models: tuple[ModelCard, ...]


_WRITTEN_APART: Final = {
    *_Lasting.model_fields,
    *("surfaced", "working_memory", "findings", "routing", "guardrail_events", "legal_actions"),
    *("reward", "done"),
}
"""The last two travel beside the observation in OpenEnv's frames."""
_HANDLES: Final = TypeAdapter(tuple[SegmentHandle, ...])
_ITEMS: Final = TypeAdapter(tuple[MemoryItem, ...])
_FINDINGS: Final = TypeAdapter(tuple[Finding, ...])
_ROUTES: Final = TypeAdapter(tuple[RouteRecord, ...])
_EVENTS: Final = TypeAdapter(tuple[GuardrailEvent, ...])
_ACTIONS: Final = TypeAdapter(tuple[LegalAction, ...])


class _Array:
    """A list as JSON. What was at its front last time is not written again."""

    def __init__(self, adapter: TypeAdapter[Any]) -> None:
        self._to_json = adapter.serializer.to_json
        self._values: tuple[Frozen, ...] = ()
        self._text = ""

    def text(self, values: tuple[Frozen, ...]) -> str:
        known = len(self._values)
        if values[:known] != self._values:
            known, self._text = 0, ""
        if len(values) > known:
            added = self._to_json(values[known:]).decode()[1:-1]
            self._text = f"{self._text},{added}" if known else added
        self._values = values
        return f"[{self._text}]"


class ObservationWriter:
    def __init__(self) -> None:
        self._lasting: tuple[object, ...] = ()
        self._lasting_text = ""
        self._handles = _Array(_HANDLES)
        self._items = _Array(_ITEMS)
        self._findings = _Array(_FINDINGS)
        self._routes = _Array(_ROUTES)
        self._events = _Array(_EVENTS)
        self._actions = _Array(_ACTIONS)

    def frame(self, seen: TokenOptEnvObservation) -> str:
        memory, routing, legal = seen.working_memory, seen.routing, seen.legal_actions
        bound = "null" if memory.token_budget is None else memory.token_budget
        reward = "null" if seen.reward is None else to_json(seen.reward).decode()
        done = "true" if seen.done else "false"
        return (
            f'{{"type":"observation","data":{{"observation":{{{self._lasting_part(seen)},'
            f'"surfaced":{self._handles.text(seen.surfaced)},'
            f'"working_memory":{{"items":{self._items.text(memory.items)},'
            f'"token_budget":{bound},"token_budget_used":{memory.token_budget_used}}},'
            f'"findings":{self._findings.text(seen.findings)},'
            f'"routing":{{"routes":{self._routes.text(routing.routes)},"nano_usd":{routing.nano_usd}}},'
            f'"guardrail_events":{self._events.text(seen.guardrail_events)},'
            f'"legal_actions":{{"actions":{self._actions.text(legal.actions)},'
            f'"choices":{to_json(legal.choices).decode()}}},'
            f'{seen.model_dump_json(exclude=_WRITTEN_APART)[1:]},"reward":{reward},"done":{done}}}}}'
        )

    def _lasting_part(self, seen: TokenOptEnvObservation) -> str:
        lasting = (seen.stamp, seen.task, seen.artifacts, seen.models)
        if lasting != self._lasting:
            told = _Lasting(stamp=seen.stamp, task=seen.task, artifacts=seen.artifacts, models=seen.models)
            self._lasting, self._lasting_text = lasting, told.model_dump_json()[1:-1]
        return self._lasting_text
