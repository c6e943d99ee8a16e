"""The answers of real models in a run's folder: `answers.jsonl`, from which the run can be played again.

A live run records there as it plays, so that one that was interrupted pays for nothing twice. A run on a recording
keeps a copy of it. Either way the folder needs nobody else to be verified, replayed or reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from TokenOptEnv import backends
from TokenOptEnv.backends import BackendStatement, LiveSettings, recording
from TokenOptEnv.backends.recorded import RecordedBackend
from TokenOptEnv.errors import BadInput
from TokenOptEnv.simulators.backend import Backend

ANSWERS = "answers.jsonl"


def answers_file(folder: Path, stated: BackendStatement) -> Path | None:
    """None where each world has models of its own."""
    return None if stated.is_simulated else folder / ANSWERS


def from_file(file: Path | None) -> Backend | None:
    """Who gives the answers of `file` again; None where none is needed. Read once in each process."""
    if file is None:
        return None
    try:
        found = file.stat()
    except FileNotFoundError:
        raise BadInput(
            f"there is no recording {str(file)!r}, and this run cannot be played again without it; put it back"
        ) from None
    return _read(file, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=2)
def _read(file: Path, size_bytes: int, changed_ns: int) -> RecordedBackend:
    """A file that has grown is another."""
    return RecordedBackend(file)


@contextmanager
def kept_in(folder: Path, spec: str, settings: LiveSettings) -> Iterator[Backend | None]:
    """While a run plays: the live backend that it shares, which records to its folder; for other backends None.

    What is answered from a file is copied there first, and each process reads it for itself.
    """
    if not backends.stated(spec, settings).grows:
        _, colon, file = spec.partition(":")
        if colon:
            _copy(Path(file), folder / ANSWERS)
        yield None
        return
    with backends.opened(spec, replace(settings, record=folder / ANSWERS)) as backend:
        yield backend


def paid_nano_usd(folder: Path) -> int:
    """All that the answers of a run have cost, by list prices; calls whose fate is unknown count in full."""
    return recording.read(folder / ANSWERS).spent_nano_usd


def _copy(source: Path, target: Path) -> None:
    """In one move: killed half-way, there is no copy."""
    if target.is_file():
        if recording.digest(target) != recording.digest(source):
            raise BadInput(f"{str(target)!r} holds other answers than {str(source)!r}; choose another folder")
        return
    draft = target.with_name(f".{target.name}")
    draft.write_bytes(recording.whole_lines(source))
    draft.replace(target)
