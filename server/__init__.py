"""The root door: `uvicorn server.app:app` from a checkout. The server itself is `TokenOptEnv.server`."""
