"""The ASGI application: OpenEnv's HTTP routes, our sessions on `/ws`, faults in one voice.

`uvicorn TokenOptEnv.server.app:app`, or `camre serve`, which also sets what uvicorn must be told.
"""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from fastapi import FastAPI
from fastapi.routing import APIRoute, APIWebSocketRoute
from openenv.core.env_server import create_fastapi_app, create_web_interface_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import ConcurrencyConfig

from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvObservation, TokenOptEnvState
from TokenOptEnv.server import http_faults, rpc
from TokenOptEnv.server.access import Access
from TokenOptEnv.server.sessions import Sessions
from TokenOptEnv.server.settings import Settings
from TokenOptEnv.server.TokenOptEnv_environment import SealedEnvironment, TokenOptEnvEnvironment

ENV_NAME: Final = "token_opt_env"
_YOUNG_OBJECTS: Final = 50_000
"""Made between two collections; Python's default is 700."""


def build_app(settings: Settings, environment: type[Environment] | None = None) -> FastAPI:
    environment = environment or (TokenOptEnvEnvironment if settings.reveal else SealedEnvironment)
    create = _with_studio(settings.reveal) if settings.web else create_fastapi_app
    sessions = Sessions(environment, settings.capacity, settings.max_message_bytes, settings.messages_per_second)
    app: FastAPI = create(
        environment,
        TokenOptEnvAction,
        TokenOptEnvObservation,
        env_name=ENV_NAME,
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=settings.capacity),
        state_cls=TokenOptEnvState,
    )
    # In front of OpenEnv's routes of the same paths: the first match wins.
    app.router.routes[:0] = [
        APIWebSocketRoute("/ws", sessions.serve),
        APIWebSocketRoute("/mcp", rpc.over_websocket),
        APIRoute("/mcp", rpc.over_http, methods=["POST"], include_in_schema=False),
    ]
    http_faults.install(app, settings.max_message_bytes)
    app.add_middleware(Access, settings=settings)
    app.router.on_startup.append(_settle)
    return app


def _with_studio(reveal: bool) -> Callable[..., FastAPI]:
    """OpenEnv's web interface, with the Studio as the whole of it. Gradio tells its makers nothing unless asked to."""
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    from TokenOptEnv.server.studio import routes, tab
    from TokenOptEnv.server.studio.table import Table

    async def build(*parts: Any, **options: Any) -> FastAPI:
        app: FastAPI = create_web_interface_app(
            *parts,
            **options,
            gradio_builder=tab.build,
            custom_tab_name="Studio",
            show_default_tab=False,
            title_override="CAMRE Studio",
        )
        app.include_router(routes.router(Table(reveal)))
        app.include_router(routes.root_router())
        tab.seclude(app)
        return app

    def create(*parts: Any, **options: Any) -> FastAPI:
        """Build inside a running event loop: where none runs, Gradio opens its own and never closes them."""
        with ThreadPoolExecutor(max_workers=1) as aside:
            return aside.submit(lambda: asyncio.run(build(*parts, **options))).result()

    return create


def _settle() -> None:
    """Collect garbage less often, and only among what comes from here on.

    What is loaded by now stays; looking through it at each full collection would stop every session for 0.1 s.
    An episode's values are trees, which go without the collector's help.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS)


app = build_app(Settings.from_environment(os.environ))
