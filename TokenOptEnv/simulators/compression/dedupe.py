"""Repeated lines, once. Near-lossless: what is dropped said the same as a line that stays, up to its variables.

Lines are equal when they differ only in digits, hexadecimals, ids and timestamps; the first stays, byte for byte, and
tells how many there were. Lines of less than three words (braces, blank lines, `else:`) carry structure: they go only
in the company of the line above, as the frames of a stack trace do. It cuts nothing to reach the wanted size.
"""

from __future__ import annotations

from collections import Counter

from TokenOptEnv.simulators.compression.method import Method
from TokenOptEnv.simulators.log_lines import masked

_FEW_WORDS = 2


def _rewrite(text: str, wanted_tokens: int, query: str) -> str:
    lines = text.split("\n")
    keys = [masked(line) for line in lines]
    speaks = [len(line.split(maxsplit=_FEW_WORDS)) > _FEW_WORDS for line in lines]
    times = Counter(key for key, speaking in zip(keys, speaks, strict=True) if speaking)
    kept: list[str] = []
    seen: set[tuple[str, str]] = set()
    above, above_dropped = "", False
    for line, key, speaking in zip(lines, keys, speaks, strict=True):
        if speaking:
            dropped = times[key] == 0
            count = f" (x{times[key]})" if times[key] > 1 else ""
            times[key] = 0
        else:
            dropped, count = above_dropped and (above, key) in seen, ""
        if not dropped:
            kept.append(line + count)
        seen.add((above, key))
        above, above_dropped = key, dropped
    return "\n".join(kept)


METHOD = Method(
    name="dedupe",
    describes="every line once; lines that differ only in numbers, ids and times count as repeats (xN)",
    rewrite=_rewrite,
)
