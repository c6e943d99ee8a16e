"""`simulated`: nothing to open, since each world makes the backend that knows its draws."""

from __future__ import annotations

from TokenOptEnv.backends.base import BackendScheme, OpenBackend
from TokenOptEnv.backends.live_settings import LiveSettings
from TokenOptEnv.backends.statement import SIMULATED, BackendStatement


def _open(rest: str, settings: LiveSettings) -> OpenBackend | None:
    return None


def _state(rest: str, settings: LiveSettings) -> BackendStatement:
    return BackendStatement()


SCHEME = BackendScheme(SIMULATED, "", "models of the catalog, by their published behaviour", _open, _state)
