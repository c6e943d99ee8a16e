"""`recorded:FILE`: answers that real models once gave, given again. Nothing is asked, and nothing is drawn."""

from __future__ import annotations

from pathlib import Path

from TokenOptEnv.backends import recording
from TokenOptEnv.backends.base import BackendScheme
from TokenOptEnv.backends.live_settings import LiveSettings
from TokenOptEnv.backends.request_key import request_key
from TokenOptEnv.backends.statement import BackendStatement
from TokenOptEnv.errors import BadInput
from TokenOptEnv.simulators.backend import RouteReply, RouteRequest


class RecordedBackend:
    def __init__(self, file: Path) -> None:
        self._name = str(file)
        self._answers = recording.read(file).answers

    def answer(self, request: RouteRequest) -> RouteReply:
        key = request_key(request)
        found = self._answers.get(key)
        if found is None:
            raise BadInput(
                f"recording {self._name!r} has no answer of {request.model_id} at {request.effort} effort to"
                f" {request.subtask_id!r} on this evidence (key {key}); play what was recorded, or record this too:"
                " live:URL with the same file"
            )
        return found.reply()

    def close(self) -> None:
        """Read once, at the beginning: nothing is held open."""


def _open(rest: str, settings: LiveSettings) -> RecordedBackend:
    return RecordedBackend(Path(rest))


def _state(rest: str, settings: LiveSettings) -> BackendStatement:
    return BackendStatement(kind="recorded", recording_sha256=recording.digest(Path(rest)))


SCHEME = BackendScheme("recorded", "FILE", "answers that real models once gave", _open, _state)
