"""A backup pruner whose main branch turned red after a push of several commits."""

from TokenOptEnv.task_defs.ci.cases.tidemark.case import SCENARIO_ID, build

__all__ = ["SCENARIO_ID", "build"]
