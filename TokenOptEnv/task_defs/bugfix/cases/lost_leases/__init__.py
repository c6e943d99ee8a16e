"""Medium: a job queue that takes jobs away from workers who are alive and say so."""

from TokenOptEnv.task_defs.bugfix.cases.lost_leases.case import SCENARIO_ID, build

__all__ = ["SCENARIO_ID", "build"]
