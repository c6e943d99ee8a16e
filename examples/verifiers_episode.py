"""One episode of `camre-v1` under verifiers, against any OpenAI-compatible endpoint.

pip install -e examples/verifiers
python examples/verifiers_episode.py http://127.0.0.1:8001/v1 MODEL
"""

import asyncio
import sys

import verifiers.v1 as vf
from camre_v1 import load_environment


async def main(base_url: str, model: str) -> None:
    env = load_environment(split="core", episodes=1)
    (task,) = env.taskset
    context = vf.ModelContext(model=model, client=vf.EvalClientConfig(base_url=base_url, api_key_var="OPENAI_API_KEY"))
    async with env.serving():
        episode = await env.run_episode(task, context)
    (trace,) = episode.traces
    print(f"{task.data.name}: reward {trace.reward:g} in {len(trace.branches)} steps, each a sample of its own")


asyncio.run(main(*sys.argv[1:]))
