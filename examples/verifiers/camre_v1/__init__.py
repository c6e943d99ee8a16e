"""CAMRE under the name by which verifiers finds it."""

from TokenOptEnv.adapters.verifiers_env import CamreEnv, CamreHarness, CamreTaskset, load_environment

__all__ = ["CamreEnv", "CamreHarness", "CamreTaskset", "load_environment"]
