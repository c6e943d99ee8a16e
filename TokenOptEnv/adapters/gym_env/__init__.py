"""CAMRE as a Gymnasium environment: numbers in, numbers out, the same episodes as everywhere else.

    import gymnasium
    import TokenOptEnv.adapters.gym_env

    env = gymnasium.make("CAMRE-v2")

The import registers `CAMRE-v2` and, for the profile with the core actions alone, `CAMRE-v1`.
"""

from __future__ import annotations

from typing import Final

from gymnasium.envs.registration import register

from TokenOptEnv.adapters.gym_env.env import CamreGymEnv
from TokenOptEnv.config import Profile

__all__ = ["ENV_IDS", "CamreGymEnv"]

ENV_IDS: Final = {Profile.V1: "CAMRE-v1", Profile.V2: "CAMRE-v2"}

for _profile, _env_id in ENV_IDS.items():
    register(id=_env_id, entry_point=CamreGymEnv, kwargs={"profile": _profile.value})
