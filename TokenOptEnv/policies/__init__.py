"""Policies: anything with `act(observation) -> action`.

name            one module here adds one: discovery finds its `POLICY`
scheme:rest     a whole kind of them, such as `llm:MODEL`: discovery finds its `SCHEME`
module:Class    anybody's own
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from TokenOptEnv.errors import UnknownName
from TokenOptEnv.policies.base import Policy, PolicyInfo, PolicyScheme
from TokenOptEnv.policies.guest import resolve as resolve_guest

__all__ = ["Policy", "PolicyInfo", "PolicyScheme", "info", "make", "names", "schemes"]

_SEE = "camre policies list"


@cache
def _modules() -> tuple[ModuleType, ...]:
    return tuple(import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))


@cache
def _found() -> dict[str, PolicyInfo]:
    policies = (getattr(module, "POLICY", None) for module in _modules())
    return {policy.name: policy for policy in sorted(filter(None, policies), key=lambda policy: policy.name)}


@cache
def schemes() -> dict[str, PolicyScheme]:
    """Every kind of policy that is named `scheme:rest`, in alphabetical order."""
    found = (getattr(module, "SCHEME", None) for module in _modules())
    return {scheme.scheme: scheme for scheme in sorted(filter(None, found), key=lambda scheme: scheme.scheme)}


def names() -> tuple[str, ...]:
    """Every policy that has a name of its own, in alphabetical order."""
    return tuple(_found())


@cache
def info(name: str) -> PolicyInfo:
    if name in _found():
        return _found()[name]
    scheme, colon, rest = name.partition(":")
    if not colon:
        raise UnknownName("policy", name, names(), _SEE)
    if scheme in schemes():
        return schemes()[scheme].resolve(rest)
    return resolve_guest(name)


def make(name: str, seed: int) -> Policy:
    return info(name).make(seed)
