"""A sandbox for tests, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from TokenOptEnv.errors import SandboxUnavailable
from TokenOptEnv.sandbox import Sandbox, SandboxLimits

QUICK = SandboxLimits(cpu_s=1, wall_s=3.0)
"""A patch that never ends is waited for no longer than it takes to see that."""

MEMORY_SEARCH = """import ctypes, gc, re
def found(pattern):
    gc.unfreeze()
    held = gc.get_objects()
    pages = {id(thing) & ~4095 for thing in held}
    pages |= {id(part) & ~4095 for thing in held for part in gc.get_referents(thing)}
    assert len(pages) > 300
    return any(re.search(pattern, ctypes.string_at(page, 4096)) for page in pages)"""
"""For patches that look for texts in every page that holds an object. A pattern must not match itself."""


@contextmanager
def opened(limits: SandboxLimits = QUICK) -> Iterator[Sandbox]:
    with Sandbox(limits) as sandbox:
        try:
            sandbox.run({}, [])
        except SandboxUnavailable as fault:
            pytest.skip(str(fault))
        yield sandbox
