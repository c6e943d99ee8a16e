"""Seeds as they are typed: `7`, `0-4`, `0,2,5-7`."""

from __future__ import annotations

import re

from TokenOptEnv.errors import BadInput

MOST_SEEDS = 10_000
_PART = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


def parse(text: str) -> tuple[int, ...]:
    """Each seed once, in the order given."""
    seeds: dict[int, None] = {}
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        if match is None:
            raise BadInput(f"seeds are written like 7, 0-4 or 0,2,5-7, not {text[:40]!r}")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise BadInput(f"seeds go upwards: {part.strip()!r} ends before it begins")
        if last - first >= MOST_SEEDS - len(seeds):
            raise BadInput(f"at most {MOST_SEEDS} seeds in one run, and {text[:40]!r} has more")
        seeds.update(dict.fromkeys(range(first, last + 1)))
    return tuple(seeds)
