"""Real token counts, one vocabulary per model family.

Counts of scenario text are stored with the scenario; what the agent causes to be written (findings,
search results, compressed text) is counted once, when it is made.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Protocol

import splintr

from TokenOptEnv.errors import UnknownName

VOCABULARIES = (
    "qwen3",
    "o200k_base",
    "cl100k_base",
    "llama3",
    "deepseek_v3",
    "gemma3",
    "mistral_v3",
    "glm4",
    "kimi_k2",
)

CUT_MARK = "…"


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
    return count_once(vocabulary, text)


def count_once(vocabulary: str, text: str) -> int:
    """Not kept: for what an agent says at length, and nobody says again.

    `encode_ordinary`, because text that spells a special token is still text.
    """
    return len(_encoder(vocabulary).encode_ordinary(text))


@lru_cache(maxsize=16_384)
def clip(vocabulary: str, text: str, cap_tokens: int) -> str:
    """The longest prefix of `text` within `cap_tokens`, marked where it was cut; nothing where not even the mark fits.

    Found by doubling, then bisection, on characters: cutting ids could split a character in two, and not every
    vocabulary maps ids back to bytes. The tries are not kept in `count`'s cache, which they would flood.
    """
    encode = _encoder(vocabulary).encode_ordinary
    if len(encode(text)) <= cap_tokens:
        return text

    def fits(characters: int) -> bool:
        return len(encode(text[:characters] + CUT_MARK)) <= cap_tokens

    if not fits(0):
        return ""
    low, high = 0, min(len(text), 2 * cap_tokens)
    while high < len(text) and fits(high):
        low, high = high, min(len(text), 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return text[:low] + CUT_MARK
