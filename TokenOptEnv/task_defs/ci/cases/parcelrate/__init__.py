"""A tariff library whose red test has nothing to do with the commits of its run."""

from TokenOptEnv.task_defs.ci.cases.parcelrate.case import SCENARIO_ID, build

__all__ = ["SCENARIO_ID", "build"]
