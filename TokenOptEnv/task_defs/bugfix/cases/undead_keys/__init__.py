"""Hard: a store of sorted tables in which deleted keys come back, weeks after the rule was broken."""

from TokenOptEnv.task_defs.bugfix.cases.undead_keys.case import SCENARIO_ID, build

__all__ = ["SCENARIO_ID", "build"]
