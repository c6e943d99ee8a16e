"""CAMRE, staged for `openenv push`. The package is `TokenOptEnv`; the files beside this one are where OpenEnv looks."""
