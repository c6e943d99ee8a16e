"""`camre mcp`."""

from __future__ import annotations

from typing import Annotated

import typer


def mcp(
    profile: Annotated[str, typer.Option(help="v1 or v2.")] = "v2",
    track: Annotated[str, typer.Option(help="controller or solver.")] = "controller",
    catalog: Annotated[str, typer.Option(help="measured or current.")] = "measured",
) -> None:
    """Serve an episode as MCP tools over standard input and output, for coding agents."""
    import os
    import sys

    from TokenOptEnv.adapters import mcp_server

    server = mcp_server.server(mcp_server.Desk(profile, track, catalog))
    ours, sys.stdout = sys.stdout, os.fdopen(os.dup(sys.stdout.fileno()), "w")  # it closes what it writes to
    try:
        server.run("stdio")
    finally:
        sys.stdout = ours
