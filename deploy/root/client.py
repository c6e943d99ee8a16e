"""Where OpenEnv looks for the client."""

from TokenOptEnv.client import TokenOptEnvClient

__all__ = ["TokenOptEnvClient"]
