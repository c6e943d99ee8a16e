"""Commits that tidy, for the depth that a real history has: each a real difference, and none a change of meaning.

They are found backwards, from the code as it is to the code as it may have been before somebody put it better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.bugfix.generator import refactor

_Undo = Callable[[str, str, Stream], str | None]
_WAYS: tuple[tuple[_Undo, tuple[str, ...]], ...] = (
    (refactor.unfolded, ("{module}: fewer words in {name}", "Say it at once in {name}")),
    (refactor.renamed, ("{module}: a better name in {name}", "No more short names in {name}")),
    (refactor.undocumented, ("{module}: say what {name} is for", "Document {name}")),
    (refactor.reworded, ("{module}: say more about {name}", "{name}: tell the whole story")),
    (refactor.unannotated, ("{module}: say what {name} returns", "Annotate {name}")),
)
_TRIES = 60


@dataclass(frozen=True, slots=True)
class Tidying:
    path: str
    before: str
    after: str
    """The whole file, before and after."""
    subject: str


def tidyings(files: Mapping[str, str], paths: Sequence[str], count: int, stream: Stream) -> tuple[Tidying, ...]:
    """`count` of them, newest first: the first one led to `files`."""
    state = {path: files[path] for path in paths}
    found: list[Tidying] = []
    touched: set[tuple[str, str, int]] = set()
    for _ in range(count * _TRIES):
        if len(found) == count:
            return tuple(found)
        path = stream.choice(paths)
        name = stream.choice(list(refactor.functions(state[path])))
        way = stream.integer(0, len(_WAYS) - 1)
        if (path, name, way) in touched:
            continue
        touched.add((path, name, way))
        undo, subjects = _WAYS[way]
        before = undo(state[path], name, stream)
        if before is None or before == state[path]:
            continue
        module = path.rpartition("/")[2].removesuffix(".py")
        found.append(Tidying(path, before, state[path], stream.choice(subjects).format(module=module, name=name)))
        state[path] = before
    raise ScenarioInvalid(f"only {len(found)} of {count} tidyings found in {', '.join(paths)}; give more files")
