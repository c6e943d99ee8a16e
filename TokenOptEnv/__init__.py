"""TokenOptEnv: an OpenEnv environment for CAMRE, a cost-aware meta-reasoning benchmark.

`LocalEnv` plays a whole episode in this process. Nothing here loads a server or a framework.
"""

from TokenOptEnv.errors import CamreError
from TokenOptEnv.local_env import LocalEnv
from TokenOptEnv.models import ActionType, TokenOptEnvAction, TokenOptEnvObservation, TokenOptEnvState
from TokenOptEnv.prompt import render_text
from TokenOptEnv.version import SCORING_VERSION, VERSION

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
