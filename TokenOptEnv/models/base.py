"""The base of every typed value that is stored or sent: frozen, and closed to unknown fields."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict


class _FieldNames(dict[type[BaseModel], set[str]]):
    """By model. A set may be shared because instances are frozen, and a copy copies it before it changes anything."""

    def __missing__(self, model: type[BaseModel]) -> set[str]:
        names = self[model] = set(model.model_fields)
        return names


_NAMES: Final = _FieldNames()
_new: Final = object.__new__
_put_values: Final = BaseModel.__dict__["__dict__"].__set__
_put_set_names: Final = BaseModel.__dict__["__pydantic_fields_set__"].__set__
_put_extra: Final = BaseModel.__dict__["__pydantic_extra__"].__set__
_put_private: Final = BaseModel.__dict__["__pydantic_private__"].__set__
"""An instance is these four slots; a frozen model lets nobody else write them."""


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


M = TypeVar("M", bound=Frozen)


def trusted(model: type[M], /, **fields: Any) -> M:
    """A value made by the engine, of parts that are typed already: none is checked again.

    A dozen are made at every step, and checking them once more would be a third of the step's time. Every field is
    given, in the model's order. What crosses the wire is always checked, and tests hold what is made here to the
    same checks, byte for byte.
    """
    new = _new(model)
    _put_values(new, fields)
    _put_set_names(new, _NAMES[model])
    _put_extra(new, None)
    _put_private(new, None)
    return new
