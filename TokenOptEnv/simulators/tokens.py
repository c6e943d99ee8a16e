"""Real token counts, one vocabulary per model family.

Counts of scenario text are stored with the scenario; what the agent causes to be written (findings,
search results, compressed text) is counted once, when it is made.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Protocol

import splintr

from TokenOptEnv.errors import UnknownName

VOCABULARIES = ("qwen3", "o200k_base", "cl100k_base", "llama3", "deepseek_v3", "gemma3", "mistral_v3", "glm4", "kimi_k2")


class _Encoder(Protocol):
    def encode_ordinary(self, text: str) -> list[int]: ...


@cache
def _encoder(vocabulary: str) -> _Encoder:
    if vocabulary not in VOCABULARIES:
        raise UnknownName("vocabulary", vocabulary, VOCABULARIES, "TokenOptEnv/simulators/tokens.py")
    encoder: _Encoder = splintr.Tokenizer.from_pretrained(vocabulary)
    return encoder


@lru_cache(maxsize=65_536)
def count(vocabulary: str, text: str) -> int:
    """`encode_ordinary`, because text that spells a special token is still text."""
    return len(_encoder(vocabulary).encode_ordinary(text))


def clip(vocabulary: str, text: str, cap_tokens: int) -> str:
    """The longest prefix of `text` within `cap_tokens`, marked where it was cut.

    Found by bisection on characters: cutting ids could split a character in two.
    """
    if count(vocabulary, text) <= cap_tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count(vocabulary, text[:middle] + "…") <= cap_tokens:
            low = middle
        else:
            high = middle - 1
    return text[:low] + "…"
