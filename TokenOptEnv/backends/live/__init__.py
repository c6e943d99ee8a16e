"""`live:URL`: real models behind any OpenAI-compatible endpoint.

backend          one answer for one content: recorded, asked once, capped, a few at a time
conversation     a question, its reply, and at most one repair
worker_prompt    what a model reads: the task, the evidence with its line numbers, the question, the form
answer_form      what it must reply, and what is read out of that
dialects         how servers want to be asked; learned from what they refuse
endpoint         one request over HTTP, and which faults are worth another try
usage            tokens as the server counted them, if that can be true
spending_cap     dollars, reserved before they are spent
"""

from __future__ import annotations

import os

from TokenOptEnv.backends.base import BackendScheme
from TokenOptEnv.backends.live.backend import LiveBackend
from TokenOptEnv.backends.live.endpoint import Endpoint, checked_address
from TokenOptEnv.backends.live_settings import KEY, LiveSettings
from TokenOptEnv.backends.recording import Recorder
from TokenOptEnv.backends.statement import BackendStatement
from TokenOptEnv.errors import BadInput

__all__ = ["SCHEME", "LiveBackend"]


def _open(rest: str, settings: LiveSettings) -> LiveBackend:
    if settings.record is None:
        raise BadInput("a live backend records what it is told: name a file with --record or CAMRE_LIVE_RECORD")
    endpoint = Endpoint(rest, os.environ.get(KEY), settings.timeout_s)
    return LiveBackend(endpoint, Recorder(settings.record), settings)


def _state(rest: str, settings: LiveSettings) -> BackendStatement:
    return BackendStatement(
        kind="live",
        address=checked_address(rest).rstrip("/"),
        served_as=dict(sorted(settings.served_as.items())),
        reply_tokens=settings.reply_tokens,
        reasoning_room=settings.reasoning_room,
    )


SCHEME = BackendScheme("live", "URL", "real models behind an OpenAI-compatible endpoint", _open, _state)
