"""`camre serve`: the environment over OpenEnv's protocol."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.util import find_spec
from typing import Annotated

import typer

from TokenOptEnv.errors import BadInput


def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on; loopback unless told otherwise.", show_default="127.0.0.1")
    ] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65_535, show_default="8000")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Server processes.", show_default="1")] = None,
    capacity: Annotated[
        int | None, typer.Option(min=1, help="Sessions at a time in each process.", show_default="256")
    ] = None,
    web: Annotated[
        bool | None, typer.Option("--web/--no-web", help="The Studio in the browser, at /web.", show_default="no-web")
    ] = None,
    reveal: Annotated[
        bool | None,
        typer.Option(
            "--reveal/--no-reveal",
            help="Show truth and reference plan after an episode, where asked for; never of the test split.",
            show_default="no-reveal",
        ),
    ] = None,
    token_env: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Serve only who knows the token in this environment variable.",
            show_default="CAMRE_TOKEN, where it is set",
        ),
    ] = None,
) -> None:
    """Serve the environment to OpenEnv clients. What is not given here comes from the environment variables."""
    if find_spec("openenv") is None:
        raise BadInput("serving needs OpenEnv; install it: pip install 'openenv-TokenOptEnv[server]'")
    from TokenOptEnv.server import launch
    from TokenOptEnv.server.settings import Settings, given_token

    settings = Settings.from_environment(os.environ)
    launch.serve(
        replace(
            settings,
            host=settings.host if host is None else host,
            port=settings.port if port is None else port,
            workers=settings.workers if workers is None else workers,
            capacity=settings.capacity if capacity is None else capacity,
            web=settings.web if web is None else web,
            reveal=settings.reveal if reveal is None else reveal,
            token=settings.token if token_env is None else given_token(os.environ, token_env),
        )
    )
