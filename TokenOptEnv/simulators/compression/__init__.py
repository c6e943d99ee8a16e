"""Compressors: real, deterministic, text to text. One module each; one that defines `METHOD` is found and offered.

What survives is what still stands in the text: a compressor keeps whole lines byte for byte or drops them, and
whether a fact is still there is read off its output.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from TokenOptEnv.simulators.compression.method import Method

__all__ = ["Method", "methods"]


@cache
def methods() -> dict[str, Method]:
    """Every compressor there is, in alphabetical order."""
    found: dict[str, Method] = {}
    for module in iter_modules(__path__):
        method = getattr(import_module(f"{__name__}.{module.name}"), "METHOD", None)
        if isinstance(method, Method):
            found[method.name] = method
    return dict(sorted(found.items()))
