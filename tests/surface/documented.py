"""The shell blocks of the README and of `docs`, as a reader meets them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHELL = ("console", "bash", "sh")
_FENCE = re.compile(
    r"^(?:<!-- (?:no-run: (?P<reason>[^\n]+?)|typed by (?P<typist>\S+)) -->\n)?"
    r"```(?P<language>\w*)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<body>.*?)^```$",
    flags=re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Block:
    page: str
    language: str
    title: str | None
    """The file that the page tells a reader to save it as."""
    body: str
    no_run: str | None
    """Why its commands are not run."""
    typed_by: str | None
    """The test that types them, where they need what only it has."""

    @property
    def commands(self) -> tuple[str, ...]:
        """One a line: lines that end in a backslash go on, and what follows a hash is a remark."""
        joined = self.body.replace("\\\n", " ")
        lines = (re.sub(r"(^|\s)#.*", "", line).strip() for line in joined.splitlines())
        return tuple(" ".join(line.split()) if '"' not in line else line for line in lines if line)


def pages() -> tuple[str, ...]:
    found = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    return tuple(sorted(str(page.relative_to(ROOT)) for page in found))


def blocks(page: str) -> tuple[Block, ...]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return tuple(
        Block(page, found["language"], found["title"], found["body"], found["reason"], found["typist"])
        for found in _FENCE.finditer(text)
    )


def shell_blocks(page: str) -> tuple[Block, ...]:
    return tuple(block for block in blocks(page) if block.language in SHELL)


def typed_by(test_file: str) -> tuple[str, ...]:
    """The commands that pages leave to a test, which says its `__file__`: there is no second copy to grow old."""
    name = str(Path(test_file).resolve().relative_to(ROOT))
    return tuple(
        command
        for page in pages()
        for block in shell_blocks(page)
        if block.typed_by == name
        for command in block.commands
    )
