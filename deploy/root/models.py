"""Where OpenEnv looks for the models."""

from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvObservation, TokenOptEnvState

__all__ = ["TokenOptEnvAction", "TokenOptEnvObservation", "TokenOptEnvState"]
