"""What a request asks for: the fields of its subtask, as the task describes them."""

from __future__ import annotations

from TokenOptEnv.errors import BadInput
from TokenOptEnv.models import AnswerField, FieldKind
from TokenOptEnv.scenario import PublicScenario
from TokenOptEnv.simulators.backend import RouteRequest


def public_of(request: RouteRequest) -> PublicScenario:
    if request.public is None:
        raise BadInput(f"the request about {request.subtask_id!r} does not say of which task; set its field public")
    return request.public


def fields_of(request: RouteRequest) -> tuple[AnswerField, ...]:
    """A field that is no part of the answer fills a later question's slot: a short text."""
    public = public_of(request)
    subtask = next((each for each in public.subtasks if each.subtask_id == request.subtask_id), None)
    if subtask is None:
        raise BadInput(f"{public.scenario_id} has no subtask {request.subtask_id!r}; see: camre scenarios show")
    described = {field.name: field for field in public.answer_fields}
    return tuple(
        described.get(name) or AnswerField(name=name, question="", kind=FieldKind.TEXT) for name in subtask.fields
    )


def sources_of(request: RouteRequest) -> tuple[str, ...]:
    """The segments that an answer may cite."""
    return tuple(dict.fromkeys(source for piece in request.context for source in piece.source_ids))
