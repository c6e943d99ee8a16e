"""Marathon: usage billed twice after an outage; the complaint, the code and the history, one after the other."""

from TokenOptEnv.task_defs.bugfix.cases.double_billing.case import SCENARIO_ID, build

__all__ = ["SCENARIO_ID", "build"]
