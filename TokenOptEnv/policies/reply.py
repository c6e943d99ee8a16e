"""A language model's reply, read as an action, whoever asked the model.

What it thought aloud is billed like hidden reasoning; what it said at last is played.
"""

from __future__ import annotations

import re
from typing import Final

from TokenOptEnv.config import YARDSTICK
from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.simulators import tokens
from TokenOptEnv.text_actions import parse

_THOUGHT: Final = re.compile(r"<think>.*?(?:</think>|\Z)", flags=re.DOTALL)


def action_of(text: str, completion_tokens: int, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
    """`completion_tokens` is what the model's server counts, reasoning included."""
    said = _THOUGHT.sub("", text).strip().strip("`").strip()
    thought = completion_tokens - tokens.count(YARDSTICK, said.split("\n", 1)[0])
    return parse(said, observation).model_copy(update={"reasoning_tokens": max(0, thought)})
