"""The root door, where OpenEnv's tools look for the application: `uvicorn server.app:app`."""

from __future__ import annotations

import os

from TokenOptEnv.server.app import app
from TokenOptEnv.server.launch import serve
from TokenOptEnv.server.settings import Settings

__all__ = ["app", "main"]


def main() -> None:
    serve(Settings.from_environment(os.environ))


if __name__ == "__main__":
    main()
