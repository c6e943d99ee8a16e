"""Hard: a gate that is red or green by the host that it runs on."""

from TokenOptEnv.task_defs.ci.cases.ferrybook.case import SCENARIO_ID, build

__all__ = ["SCENARIO_ID", "build"]
