"""Faults over HTTP: the same words as on the socket, as `{"detail": ...}` with a status.

FastAPI would send the rejected input back with every validation error, and nothing at all about a bug.
"""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from TokenOptEnv.errors import CamreError, EpisodeNotRunning
from TokenOptEnv.server import faults


def install(app: FastAPI, max_body_bytes: int) -> None:
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(ValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(CamreError, _mistaken)
    app.add_exception_handler(faults.InternalFault, _failed)
    app.add_middleware(Guard, max_body_bytes=max_body_bytes)


def _told(status: int, detail: str) -> JSONResponse:
    return JSONResponse({"detail": faults.shown(detail)}, status)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    """A caller's alone come here: what fails validation inside the engine is a bug, and guarded as one."""
    assert isinstance(error, RequestValidationError | ValidationError)
    return _told(422, faults.problems(error.errors()))


async def _refused(request: Request, error: Exception) -> JSONResponse:
    """OpenEnv puts the list of a validation error, inputs included, into `detail`."""
    assert isinstance(error, HTTPException)
    detail: object = error.detail
    return _told(error.status_code, faults.problems(detail) if isinstance(detail, list) else str(detail))


async def _mistaken(request: Request, error: Exception) -> JSONResponse:
    return _told(409 if isinstance(error, EpisodeNotRunning) else 400, str(error))


async def _failed(request: Request, error: Exception) -> JSONResponse:
    return _told(500, str(error))


class _TooLarge(Exception):
    pass


class Guard:
    """Around every HTTP request: bodies are read up to a size, and a bug is told by its id alone."""

    def __init__(self, app: ASGIApp, max_body_bytes: int) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        left = self._max_body_bytes
        started = False

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise _TooLarge
            return message

        async def watched(message: Message) -> None:
            """What is made of half a body is not sent: FastAPI answers a failed read in words of its own."""
            nonlocal started
            if left >= 0:
                started = True
                await send(message)

        try:
            await self._app(scope, counted, watched)
            told = None
        except Exception as error:
            if started:
                raise
            told = None if isinstance(error, _TooLarge) else _told(500, str(faults.internal_fault(error)))
        if left < 0:
            told = _told(413, f"a body over {self._max_body_bytes} bytes is not read")
        if told is not None:
            await told(scope, receive, send)
