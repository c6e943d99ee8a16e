"""Marathon: a test that is right all day and wrong in the evening, thawed after a winter."""

from TokenOptEnv.task_defs.ci.cases.rotaboard.case import SCENARIO_ID, build

__all__ = ["SCENARIO_ID", "build"]
