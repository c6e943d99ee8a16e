"""Inspect AI without a network: a stand-in model that always says the same, on two scenarios.

With a real model: inspect eval camre --model openai/MODEL -T split=core
"""

import sys
from typing import Any

from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from TokenOptEnv.adapters.inspect_task import camre


def say(*prompt: Any) -> ModelOutput:
    reply = ModelOutput.from_content("mockllm/model", "find error timeout")
    reply.usage = ModelUsage(input_tokens=0, output_tokens=3)
    return reply


model = get_model("mockllm/model", custom_outputs=say)
(log,) = eval(camre(episodes=2), model=model, display="none", log_dir=sys.argv[1])
for score in log.results.scores:
    print(f"{score.name}: mean {score.metrics['mean'].value:.4f}")
