"""What a routed model reads. What stays the same comes first, so that a provider's prefix cache can hold it."""

from __future__ import annotations

from TokenOptEnv.backends.live.evidence import EvidenceView
from TokenOptEnv.backends.question import fields_of, public_of, sources_of
from TokenOptEnv.backends.recording import Message
from TokenOptEnv.models import AnswerField, FieldKind
from TokenOptEnv.simulators.backend import RouteRequest

_SYSTEM = (
    "You answer one question from the evidence given, and from nothing else. Each piece of evidence begins with the"
    " ids of its segments in square brackets; code has its line numbers in front of each line, which are no part of it."
    ' Reply with one JSON object and nothing around it: "text", one sentence that says why; "values", an object'
    " with a string for each field asked for, or null when the evidence does not suffice;"
    ' "confidence", the probability from 0 to 1 that all values are right;'
    ' "cites", a list of the ids of the segments that you rely on.'
)
_PATCH = (
    "the shortest unified diff, without context lines: --- a/FILE, +++ b/FILE, @@ -LINE +LINE @@,"
    " then the old line after a minus and the new one after a plus"
)


def messages(request: RouteRequest) -> tuple[Message, ...]:
    view = EvidenceView(public_of(request))
    evidence = "\n".join(view.shown(piece) for piece in request.context) or "(none)\n"
    asked = "\n".join(f"- {_described(field)}" for field in fields_of(request))
    user = (
        f"Task: {public_of(request).brief}\n\nEvidence:\n{evidence}\n"
        f"Question: {request.question}\nFields:\n{asked}\nReply in this form: {_form(request)}\n"
    )
    return Message(role="system", content=_SYSTEM), Message(role="user", content=user)


def repair(request: RouteRequest, fault: str) -> Message:
    """Says what was wrong, and what would be right: most models mend it then."""
    asked = f"That cannot be used: {fault}. Reply again, with the JSON object alone, in this form: {_form(request)}"
    return Message(role="user", content=asked)


def _form(request: RouteRequest) -> str:
    names = ", ".join(f'"{field.name}": "..."' for field in fields_of(request))
    cites = ", ".join(f'"{source}"' for source in sources_of(request)[:2])
    return f'{{"text": "...", "values": {{{names}}}, "confidence": 0.5, "cites": [{cites}]}}'


def _described(field: AnswerField) -> str:
    question = f": {field.question}" if field.question else ""
    if field.choices:
        return f"{field.name}{question} One of: {' | '.join(field.choices)}"
    if field.kind is FieldKind.PATCH:
        return f"{field.name}{question} Write {_PATCH}"
    return f"{field.name}{question}"
