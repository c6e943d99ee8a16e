"""OpenEnv finds the client and the action by the environment's name: no import of this package.

camre serve &
python examples/openenv_auto.py http://127.0.0.1:8000
"""

import sys

from openenv.auto import AutoAction, AutoEnv

Action = AutoAction.from_env("token_opt_env")
with AutoEnv.from_env("token_opt_env", base_url=sys.argv[1]).sync() as env:
    seen = env.reset(split="core", index=0).observation
    seen = env.step(Action(action_type="READ_ARTIFACT", artifact_id=seen.artifacts[0].artifact_id)).observation
    print(f"{seen.task.scenario_id}: {seen.last_tool_result.payload.access_mode} of {seen.artifacts[0].title}")
