"""`simulated`: nothing to open, since each world makes the backend that knows its draws."""

from __future__ import annotations

from TokenOptEnv.backends.base import BackendScheme, OpenBackend
from TokenOptEnv.backends.live_settings import LiveSettings


def _open(rest: str, settings: LiveSettings) -> OpenBackend | None:
    return None


SCHEME = BackendScheme("simulated", "", "models of the catalog, by their published behaviour", _open)
