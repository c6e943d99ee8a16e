"""The form of an answer: the schema a server may hold a model to, and what is read out of its reply.

Whatever comes back is checked here, whether or not the server promised to check it. A fault is told in words that
can be sent back to the model, and holds nothing but the names of fields and ids that were asked for.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from TokenOptEnv.backends.live.patch_form import minimal_patch
from TokenOptEnv.backends.question import fields_of, sources_of
from TokenOptEnv.config import TEXT_CAP_CHARACTERS
from TokenOptEnv.models import AnswerField, FieldKind
from TokenOptEnv.simulators.backend import RouteRequest

_THOUGHT: Final = re.compile(r"<think>.*?(?:</think>|\Z)", flags=re.DOTALL)
_LONGEST_TEXT: Final = 600
_CONFIDENCE_DECIMALS: Final = 2
UNREADABLE: Final = "The model's reply could not be used."


class Answer(NamedTuple):
    """`values` is empty when the model says that the evidence does not suffice."""

    values: dict[str, str]
    text: str
    confidence: float
    cites: tuple[str, ...]


class WrongForm(Exception):
    """The reply is not in the form asked for. Its text is for the model."""


NO_ANSWER: Final = Answer({}, UNREADABLE, 0.0, ())
"""What a model has said whose reply cannot be used even when repaired."""


class AnswerForm:
    def __init__(self, request: RouteRequest) -> None:
        self._fields = {field.name: field for field in fields_of(request)}
        self._sources = sources_of(request)

    def schema(self) -> dict[str, Any]:
        """Every property required and none besides, as servers want it that decode under a schema."""
        values = _object({name: _value_schema(field) for name, field in self._fields.items()})
        cited = {"type": "string", "enum": list(self._sources)} if self._sources else {"type": "string"}
        return _object(
            {
                "text": {"type": "string"},
                "values": {"anyOf": [values, {"type": "null"}]},
                "confidence": {"type": "number"},
                "cites": {"type": "array", "items": cited},
            }
        )

    def read(self, content: str) -> Answer:
        said = _object_in(content)
        unknown = said.keys() - {"text", "values", "confidence", "cites"}
        if unknown or not {"values", "confidence", "cites"} <= said.keys():
            raise WrongForm("it must have exactly text, values, confidence and cites")
        values = self._values(said["values"])
        text = said.get("text") or ""
        if not isinstance(text, str):
            raise WrongForm("text must be a string")
        return Answer(
            values=values,
            text=" ".join(text.split())[:_LONGEST_TEXT],
            confidence=_confidence(said["confidence"]),
            cites=self._cites(said["cites"]) if values else (),
        )

    def _values(self, said: object) -> dict[str, str]:
        if said is None or said == {}:
            return {}
        if not isinstance(said, dict) or said.keys() != self._fields.keys():
            raise WrongForm(f"values must be null or have exactly {', '.join(self._fields)}")
        return {name: _value(field, said[name]) for name, field in self._fields.items()}

    def _cites(self, said: object) -> tuple[str, ...]:
        if not isinstance(said, list) or not all(isinstance(each, str) for each in said):
            raise WrongForm("cites must be a list of ids")
        if not set(said) <= set(self._sources):
            raise WrongForm("cites may hold only ids that stand in square brackets above")
        return tuple(source for source in self._sources if source in said)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _value_schema(field: AnswerField) -> dict[str, Any]:
    return {"type": "string", "enum": list(field.choices)} if field.choices else {"type": "string"}


def _value(field: AnswerField, said: object) -> str:
    """A line number may come as a number: that is a matter of form, and not of what was meant."""
    text = str(said) if isinstance(said, int) and not isinstance(said, bool) else said
    if not isinstance(text, str) or not text.strip() or len(text) > TEXT_CAP_CHARACTERS:
        raise WrongForm(f"{field.name} must be a string of 1 to {TEXT_CAP_CHARACTERS} characters")
    if field.kind is FieldKind.PATCH:
        return minimal_patch(text)
    if not field.choices:
        return " ".join(text.split())
    chosen = next((choice for choice in field.choices if choice.casefold() == text.strip().casefold()), None)
    if chosen is None:
        raise WrongForm(f"{field.name} must be one of its choices")
    return chosen


def _confidence(said: object) -> float:
    if isinstance(said, bool) or not isinstance(said, (int, float)) or not math.isfinite(said) or not 0 <= said <= 1:
        raise WrongForm("confidence must be a number from 0 to 1")
    return round(float(said), _CONFIDENCE_DECIMALS)


def _object_in(content: str) -> dict[str, Any]:
    """The first JSON object of the reply, whatever stands around it."""
    for said in _decoded(_THOUGHT.sub("", content)):
        return said
    raise WrongForm("it is no JSON object")


def _decoded(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    for at in _openings(text):
        try:
            found, _ = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found


def _openings(text: str) -> Iterable[int]:
    return (found.start() for found in re.finditer(r"\{", text[:_MOST_CHARACTERS]))


_MOST_CHARACTERS: Final = 100_000
