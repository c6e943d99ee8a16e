"""A slip: lines of a file that read well and mean something else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Slip:
    """In file `path`, `old` stands exactly once; with `new` in its place, so does `new`."""

    path: str
    function: str
    old: str
    new: str


def placed(
    path: str, function: str, text: str, line: int, right: tuple[str, ...], wrong: tuple[str, ...]
) -> Slip | None:
    """The lines that change, with lines from above until they stand in the file only once; None where they never do."""
    lines = text.split("\n")
    for first in range(line - 1, -1, -1):
        above = lines[first : line - 1]
        old, new = _block([*above, *right]), _block([*above, *wrong])
        if text.count(old) == 1 and text.replace(old, new).count(new) == 1:
            return Slip(path, function, old, new)
    return None


def _block(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
