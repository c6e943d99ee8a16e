"""One step back in a history: what could be taken away, where, and how its commit would be called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.generator.projects import Project
from TokenOptEnv.task_defs.ci.generator.setting import Setting
from TokenOptEnv.task_defs.ci.generator.undo import LOGIC, WORDS, Spot, added_test, read


def find_spot(
    files: Mapping[str, str], path: str, draw: Stream, kinds: Sequence[str], keep: str = ""
) -> tuple[str, Spot]:
    kept = keep.partition("::")[2].partition("[")[0]
    for kind in draw.shuffled(kinds):
        if spots := _spots(kind, path, files[path], kept):
            return kind, draw.choice(spots)
    raise ScenarioInvalid(f"nothing of {', '.join(kinds)} to take back in {path}")


@lru_cache(maxsize=4096)
def _spots(kind: str, path: str, text: str, keep: str) -> tuple[Spot, ...]:
    """Kept, because most histories of a package begin at the same last state."""
    source = read(path, text)
    return tuple(added_test(source, (keep,)) if kind == "test" else {**LOGIC, **WORDS}[kind](source))


def draw_module(chosen: Project, files: Mapping[str, str], draw: Stream, other_than: str = "") -> str:
    modules = [path for path in files if path.startswith(f"{chosen.name}/") and not path.endswith("__init__.py")]
    return draw.choice([path for path in modules if path != other_than])


def draw_test_module(setting: Setting, files: Mapping[str, str], draw: Stream) -> str:
    own = [path for path in setting.project.files if path.rpartition("/")[2].startswith("test_")]
    return draw.choice([path for path in own if path in files])


def draw_subject(setting: Setting, draw: Stream, kind: str, path: str, what: str) -> str:
    module = path.rpartition("/")[2].removesuffix(".py")
    return draw.choice(setting.voice.subjects[kind]).format(module=module, what=what)
