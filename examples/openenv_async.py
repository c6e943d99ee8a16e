"""Several episodes at once over the wire: each client is a session of its own.

camre serve &
python examples/openenv_async.py http://127.0.0.1:8000
"""

import asyncio
import sys

from TokenOptEnv.client import TokenOptEnvClient
from TokenOptEnv.policies import make


async def play(base_url: str, index: int) -> str:
    async with TokenOptEnvClient(base_url=base_url) as env:
        policy = make("cheapest", seed=0)
        result = await env.reset(split="core", index=index, seed=0)
        while not result.done:
            result = await env.step(policy.act(result.observation))
        return f"{result.observation.task.scenario_id}: return {result.observation.score.total_return:g}"


async def main(base_url: str) -> None:
    for line in await asyncio.gather(*(play(base_url, index) for index in range(3))):
        print(line)


asyncio.run(main(sys.argv[1]))
