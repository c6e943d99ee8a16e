"""A part of a page that is written by a command, between two marks: numbers in a text are never typed."""

from __future__ import annotations

import re
from pathlib import Path

from TokenOptEnv.errors import BadInput


def rewrite(file: Path, name: str, content: str) -> None:
    text = file.read_text(encoding="utf-8")
    file.write_text(replaced(text, name, content, file.name), encoding="utf-8", newline="\n")


def replaced(text: str, name: str, content: str, where: str) -> str:
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise BadInput(f"{where!r} has no block to write to; put one {begin} and, below it, one {end} in it")
    block = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", flags=re.DOTALL)
    return block.sub(lambda found: f"{begin}\n{content}\n{end}", text)
