"""Adapters to large packages: each file is collected where its library is installed.

`make test` has Gymnasium and mcp 1, and OpenEnv, whose examples run in `tests/server`. `make test-adapters` has all but
OpenEnv, with mcp 2, and fails where something is missing.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

_LIBRARIES = {
    "test_export.py": "pyarrow",
    "test_gymnasium.py": "gymnasium",
    "test_inspect.py": "inspect_ai",
    "test_mcp.py": "mcp",
    "test_ray.py": "ray",
    "test_verifiers.py": "verifiers",
}
_missing = {file: library for file, library in _LIBRARIES.items() if find_spec(library) is None}

if os.environ.get("CAMRE_REQUIRE_ADAPTERS") == "1" and _missing:
    raise RuntimeError(f"not installed: {', '.join(sorted(_missing.values()))}; run: make test-adapters")

collect_ignore = list(_missing)
