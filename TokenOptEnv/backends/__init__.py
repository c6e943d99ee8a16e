"""Who answers routed questions: the simulated models, a recording, or real ones.

    simulated        the default: pure, and made anew for each world
    recorded:FILE    answers once given, given again byte for byte
    live:URL         any OpenAI-compatible endpoint; records as it goes

A module here that defines `SCHEME` adds a kind: discovery finds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from TokenOptEnv.backends.base import BackendScheme, OpenBackend
from TokenOptEnv.backends.live_settings import LiveSettings
from TokenOptEnv.backends.statement import BackendStatement
from TokenOptEnv.errors import BadInput, UnknownName
from TokenOptEnv.simulators.backend import Backend

__all__ = ["BackendScheme", "BackendStatement", "LiveSettings", "check", "opened", "schemes", "stated"]


@cache
def schemes() -> dict[str, BackendScheme]:
    """Every kind of backend by its name, in alphabetical order."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    found = (getattr(module, "SCHEME", None) for module in modules)
    return {scheme.name: scheme for scheme in sorted(filter(None, found), key=lambda scheme: scheme.name)}


def check(spec: str) -> BackendScheme:
    """The kind that `spec` names, written as that kind wants it; nothing is opened yet."""
    name, colon, rest = spec.partition(":")
    if name not in schemes():
        known = ", ".join(scheme.written for scheme in schemes().values())
        raise UnknownName("backend", name, schemes(), f"docs/backends.md; there are {known}")
    scheme = schemes()[name]
    if bool(scheme.takes) != bool(rest) or (colon and not rest):
        raise BadInput(f"backend {spec[:80]!r} is not written like {scheme.written}")
    return scheme


def stated(spec: str, settings: LiveSettings) -> BackendStatement:
    """What a run writes down of the backend that `spec` names; refused like that where it cannot be opened."""
    return check(spec).state(spec.partition(":")[2], settings)


@contextmanager
def opened(spec: str, settings: LiveSettings) -> Iterator[Backend | None]:
    """What `spec` names, for as long as it is needed; None where each world has a backend of its own."""
    scheme = check(spec)
    held: OpenBackend | None = scheme.open(spec.partition(":")[2], settings)
    try:
        yield held
    finally:
        if held is not None:
            held.close()
