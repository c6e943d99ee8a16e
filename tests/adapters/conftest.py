"""Adapters to large packages. Without the environment of `make test-adapters` none is collected."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("ray") else ["test_ray.py"]
