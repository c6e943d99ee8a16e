"""Policies: anything with `act(observation) -> action`. One module adds one; discovery finds its `POLICY`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from TokenOptEnv.errors import UnknownName
from TokenOptEnv.policies.base import Policy, PolicyInfo

__all__ = ["Policy", "PolicyInfo", "info", "make", "names"]


@cache
def _found() -> dict[str, PolicyInfo]:
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    policies = (getattr(module, "POLICY", None) for module in modules)
    return {policy.name: policy for policy in sorted(filter(None, policies), key=lambda policy: policy.name)}


def names() -> tuple[str, ...]:
    """Every policy there is, in alphabetical order."""
    return tuple(_found())


def info(name: str) -> PolicyInfo:
    if name not in _found():
        raise UnknownName("policy", name, names(), "camre policies list")
    return _found()[name]


def make(name: str, seed: int) -> Policy:
    return info(name).make(seed)
