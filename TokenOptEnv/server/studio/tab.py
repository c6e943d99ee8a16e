"""The Studio inside OpenEnv's web interface: one frame that fills the page.

OpenEnv's own playground is left out: it is one environment for all visitors at once, while everybody has episodes of
their own here.
"""

from __future__ import annotations

from typing import Any, Final

import gradio as gr

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
