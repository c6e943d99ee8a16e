"""TokenOptEnv: an OpenEnv environment for CAMRE, a cost-aware meta-reasoning benchmark.

`LocalEnv` plays a whole episode in this process. Nothing here loads a server or a framework, and each name is loaded
when it is first used: asking for the version must not cost the whole engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from TokenOptEnv.errors import CamreError
from TokenOptEnv.version import SCORING_VERSION, VERSION

if TYPE_CHECKING:
    from TokenOptEnv.local_env import LocalEnv
    from TokenOptEnv.models import ActionType, TokenOptEnvAction, TokenOptEnvObservation, TokenOptEnvState
    from TokenOptEnv.prompt import render_text

__version__ = VERSION
__all__ = [
    "SCORING_VERSION",
    "ActionType",
    "CamreError",
    "LocalEnv",
    "TokenOptEnvAction",
    "TokenOptEnvObservation",
    "TokenOptEnvState",
    "__version__",
    "render_text",
]

_HOMES = {
    "LocalEnv": "local_env",
    "ActionType": "models",
    "TokenOptEnvAction": "models",
    "TokenOptEnvObservation": "models",
    "TokenOptEnvState": "models",
    "render_text": "prompt",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
