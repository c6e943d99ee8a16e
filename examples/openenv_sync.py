"""An episode over the wire, in plain synchronous code.

camre serve &
python examples/openenv_sync.py http://127.0.0.1:8000
"""

import sys

from TokenOptEnv.client import TokenOptEnvClient
from TokenOptEnv.policies import make

with TokenOptEnvClient(base_url=sys.argv[1]).sync() as env:
    policy = make("cheapest", seed=0)
    result = env.reset(split="core", index=0, seed=0)
    while not result.done:
        result = env.step(policy.act(result.observation))
    score = result.observation.score
    print(f"success {score.success}, return {score.total_return:g}, cost ${score.cost_nano_usd / 1e9:.4f}")
