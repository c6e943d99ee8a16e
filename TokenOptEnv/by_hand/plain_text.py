"""Evidence as text for people: nothing in it is obeyed, and it takes no more room than it may."""

from __future__ import annotations

import re

_UNPRINTABLE = re.compile("[^\n\x20-\x7e\xa0-\U0010ffff]")


def plain(text: str) -> str:
    """As it is, save for what a terminal would obey: a log may hold escape sequences."""
    return _UNPRINTABLE.sub("?", text.expandtabs(4))


def clipped(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
