"""Token ids of prompts, most of whose lines were there a step before.

Encoding a prompt takes longer than stepping its episode. A byte-level tokenizer never joins what stands before a single
line break with what comes after it, so lines can be encoded apart, and each once.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

Ids = NDArray[np.int32]
_AFTER_A_LINE = re.compile(r"(?<=\S\n)(?=\S)")
_PROBE = "## One, two.\n3 four:\n(five) six-7\n_8 nine's, 10ms -> ten\n{'a': 1}\nÄ é\n"
_MOST_LINES = 1 << 16


class PromptTokens:
    def __init__(self, file: Path, most_tokens: int) -> None:
        self._tokenizer = Tokenizer.from_file(str(file))
        self._most_tokens = most_tokens
        self._lines: dict[str, list[int]] = {}
        self.by_lines = [each for line in _lines_of(_PROBE) for each in self._encoded(line)] == self._encoded(_PROBE)

    def ids(self, prompt: str) -> Ids:
        """The middle of a prompt that no network could read is left out: only an unbounded memory grows so long."""
        parts = _lines_of(prompt) if self.by_lines else [prompt]
        ids = np.asarray([each for part in parts for each in self._line(part)], dtype=np.int32)
        most = self._most_tokens
        return ids if len(ids) <= most else np.concatenate([ids[: most // 2], ids[len(ids) - (most - most // 2) :]])

    def _line(self, line: str) -> list[int]:
        known = self._lines.get(line)
        if known is None:
            if len(self._lines) == _MOST_LINES:
                self._lines.clear()
            known = self._lines[line] = self._encoded(line)
        return known

    def _encoded(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids


def _lines_of(text: str) -> list[str]:
    return _AFTER_A_LINE.split(text)
