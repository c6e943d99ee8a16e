"""The base of every typed value that is stored or sent: frozen, and closed to unknown fields."""

from __future__ import annotations

from functools import cache
from typing import Any, Self

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticUndefined


@cache
def _shape(model: type[BaseModel]) -> tuple[set[str], dict[str, Any]]:
    """The names of a model's fields, and all of them in order with their defaults.

    The set may be shared because instances are frozen, and a copy copies it before it changes anything.
    """
    blank = {
        name: None if field.default is PydanticUndefined else field.default
        for name, field in model.model_fields.items()
    }
    return set(blank), blank


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def trusted(cls, **fields: Any) -> Self:
        """Made by the engine, of parts that are typed already: none is checked again.

        An observation is built at every step, and checking it once more would be a third of the step's time.
        What crosses the wire is always checked, and tests hold what is built here to the same checks.
        """
        new = cls.__new__(cls)
        put = object.__setattr__
        names, blank = _shape(cls)
        put(new, "__dict__", blank | fields)
        put(new, "__pydantic_fields_set__", names)
        put(new, "__pydantic_extra__", None)
        put(new, "__pydantic_private__", None)
        return new
