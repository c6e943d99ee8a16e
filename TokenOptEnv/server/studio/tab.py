"""The Studio inside OpenEnv's web interface: one frame that fills the page.

OpenEnv's own playground is left out: it is one environment for all visitors at once, while everybody has episodes of
their own here. The shell around the frame is Gradio's, and is kept from asking anybody but this server.
"""

from __future__ import annotations

from typing import Any, Final

import gradio as gr
from fastapi import FastAPI
from starlette.routing import Mount

_FRAME: Final = (
    '<iframe src="../studio/" title="CAMRE Studio" allow="clipboard-write"'
    ' style="position:fixed;inset:0;width:100%;height:100%;border:0;z-index:1000"></iframe>'
)


def build(*ignored: Any) -> gr.Blocks:
    """Called by OpenEnv with what its own playground is built from."""
    page = gr.Blocks()
    with page:
        gr.HTML(_FRAME)
    return page


def seclude(app: FastAPI) -> None:
    """Drop the fonts that OpenEnv's theme fetches from elsewhere: the frame covers everything they are for."""
    for route in app.routes:
        if isinstance(route, Mount) and isinstance(route.app, gr.routes.App):
            shell = route.app.get_blocks()
            shell.stylesheets = []
            shell.config = shell.get_config_file()
