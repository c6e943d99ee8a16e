"""The Studio over HTTP: the page, its parts, and a small JSON interface. Faults are told by `http_faults`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import PurePath
from typing import Final

from fastapi import APIRouter, HTTPException, Response
from fastapi.responses import RedirectResponse

from TokenOptEnv.evaluation import report
from TokenOptEnv.server.studio.lobby import Lobby, lobby
from TokenOptEnv.server.studio.sitting import Frame, Move, Sitting
from TokenOptEnv.server.studio.table import Table
from TokenOptEnv.server.task import Task, task_at

_SHARED: Final = ("style.css", "charts.js")
"""Of the report: the two look alike because they are drawn with the same things."""
_MEDIA: Final = {".css": "text/css", ".js": "text/javascript", ".html": "text/html"}
_MANIFEST: Final = '{"name": "CAMRE Studio", "start_url": "/studio/", "display": "standalone"}'
_HEADERS: Final = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
}


def router(table: Table) -> APIRouter:
    """Plain functions: each runs in a thread, so that a case that has to be generated holds up no session."""
    made = APIRouter(prefix="/studio", include_in_schema=False)

    @made.get("")
    def studio() -> RedirectResponse:
        return RedirectResponse("studio/")

    @made.get("/")
    def page() -> Response:
        return _served("studio.html")

    @made.get("/assets/{name}")
    def asset(name: str) -> Response:
        return _served(name)

    @made.get("/api/lobby")
    def entered() -> Lobby:
        return lobby(table.reveal)

    @made.get("/api/cases/{split}/{index}")
    def case(split: str, index: int) -> Task:
        return task_at(split, index)

    @made.post("/api/episode")
    def episode(sitting: Sitting) -> tuple[Frame, ...]:
        return table.frames(sitting)

    @made.post("/api/step")
    def step(move: Move) -> Frame:
        return table.step(move.sitting, move.action)

    @made.post("/api/next")
    def watched(sitting: Sitting) -> Frame:
        return table.next(sitting)

    return made


def root_router() -> APIRouter:
    """What browsers ask the root of a site for when Gradio's shell is opened."""
    made = APIRouter(include_in_schema=False)

    @made.get("/manifest.json")
    def manifest() -> Response:
        return Response(_MANIFEST, media_type="application/manifest+json")

    @made.get("/favicon.ico")
    def icon() -> Response:
        return Response(status_code=204)

    return made


def _served(name: str) -> Response:
    text = _assets().get(name)
    if text is None:
        raise HTTPException(404, f"the Studio has no part {name[:40]!r}")
    return Response(text, media_type=_MEDIA[PurePath(name).suffix], headers=_HEADERS)


@cache
def _assets() -> dict[str, str]:
    """By name: a request never reaches the file system."""
    own = (each for each in (files(__package__) / "assets").iterdir() if PurePath(each.name).suffix in _MEDIA)
    shared = (files(report) / "assets" / name for name in _SHARED)
    return {each.name: each.read_text(encoding="utf-8") for each in (*own, *shared)}
