"""An exact replacement of text in one file: how a bug is planted and how a commit is taken back.

Exact, because a mutation that silently missed its place would leave a case without its bug.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from TokenOptEnv.errors import ScenarioInvalid


@dataclass(frozen=True, slots=True)
class Edit:
    path: str
    before: str
    after: str

    def applied(self, files: Mapping[str, str]) -> dict[str, str]:
        return _replaced(files, self.path, self.before, self.after)

    def undone(self, files: Mapping[str, str]) -> dict[str, str]:
        return _replaced(files, self.path, self.after, self.before)


def _replaced(files: Mapping[str, str], path: str, old: str, new: str) -> dict[str, str]:
    if path not in files:
        raise ScenarioInvalid(f"no file {path!r} to edit; the package has {', '.join(sorted(files))}")
    times = files[path].count(old)
    if times != 1:
        raise ScenarioInvalid(
            f"{path}: {old!r} stands there {times} times; an edit needs a text that stands there once"
        )
    return {**files, path: files[path].replace(old, new)}
