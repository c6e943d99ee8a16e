"""The base of every typed value that is stored or sent: frozen, and closed to unknown fields."""

from __future__ import annotations

from functools import cache
from typing import Any, Self

from pydantic import BaseModel, ConfigDict


@cache
def _all_fields(model: type[BaseModel]) -> set[str]:
    """One set for all instances: they are frozen, and a copy copies it before it changes anything."""
    return set(model.model_fields)


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def trusted(cls, **fields: Any) -> Self:
        """Made by the engine, of parts that are typed already: every field given, none checked again.

        An observation is built at every step, and checking it once more would be a third of the step's time.
        What crosses the wire is always checked, and tests hold what is built here to the same checks.
        """
        new = cls.__new__(cls)
        put = object.__setattr__
        put(new, "__dict__", fields)
        put(new, "__pydantic_fields_set__", _all_fields(cls))
        put(new, "__pydantic_extra__", None)
        put(new, "__pydantic_private__", None)
        return new
