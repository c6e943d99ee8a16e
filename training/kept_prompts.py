"""What a network made of prompts lately, for those that begin alike: on a processor reading is what takes the time.

Most of a prompt stood in the one before, and the worlds of a case show the same until somebody has answered. A GPU
reads prompts whole: it is as quick as looking them up.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import torch
from torch import Tensor

from training.prompt_tokens import Ids

Layers = list[tuple[Tensor, Tensor]]
"""By layer, keys and values of (heads, tokens, head width)."""


class KeptPrompts:
    """The latest that have so many tokens in all. They mean something only as long as the network stays as it is."""

    def __init__(self, most_tokens: int) -> None:
        self._most_tokens, self._tokens = most_tokens, 0
        self._prompts: OrderedDict[bytes, tuple[Ids, Tensor]] = OrderedDict()

    def clear(self) -> None:
        self._prompts.clear()
        self._tokens = 0

    def take_up(self, prompt: Ids, layers: Layers) -> int:
        """Write down what is known of the prompt's beginning, and how long that is; its last token is to be read."""
        best, source = 0, b""
        for name, (other, _) in self._prompts.items():
            length = min(len(prompt) - 1, len(other))
            differs = np.flatnonzero(prompt[:length] != other[:length])
            shared = int(differs[0]) if len(differs) else length
            if shared > best:
                best, source = shared, name
        if best:
            self._prompts.move_to_end(source)
            made = self._prompts[source][1]
            for (keys, values), (known_keys, known_values) in zip(layers, made, strict=True):
                keys[:, :best], values[:, :best] = known_keys[:, :best], known_values[:, :best]
        return best

    def keep(self, prompt: Ids, layers: Layers) -> None:
        size = len(prompt)
        made = torch.stack([torch.stack((keys[:, :size], values[:, :size])) for keys, values in layers])
        self._tokens += size
        self._prompts[prompt.tobytes()] = (prompt, made)
        while self._tokens > self._most_tokens and len(self._prompts) > 1:
            _, (dropped, _) = self._prompts.popitem(last=False)
            self._tokens -= len(dropped)
