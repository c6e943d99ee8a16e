"""What the site changes in a page: the README's table is shown, and links that leave `docs` become words.

Pages are read in the repository as well, where such links lead somewhere; the site has no copy of the tree.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

_ROOT = Path(__file__).resolve().parent.parent
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s#]+)(#[^)]*)?\)")
_TABLE = re.compile(r"<!-- leaderboard: begin -->\n(.*?)<!-- leaderboard: end -->", flags=re.DOTALL)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    if page.file.src_uri == "results.md":
        markdown = markdown.replace("<!-- leaderboard -->", leaderboard())
    return words_for_outside(markdown, PurePosixPath(page.file.src_uri))


def leaderboard() -> str:
    found = _TABLE.search((_ROOT / "README.md").read_text(encoding="utf-8"))
    if found is None:
        raise ValueError("README.md has no leaderboard; write it: make readme")
    return found[1]


def words_for_outside(markdown: str, source: PurePosixPath) -> str:
    def shown(link: re.Match[str]) -> str:
        target = link[2]
        if "://" in target or target.startswith(("mailto:", "/")):
            return link[0]
        depth = 0
        for part in (source.parent / target).parts:
            depth += -1 if part == ".." else 1
            if depth < 0:
                return link[1]
        return link[0]

    return _LINK.sub(shown, markdown)
