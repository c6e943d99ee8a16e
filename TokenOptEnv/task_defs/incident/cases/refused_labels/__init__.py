"""Fresh tokens are dead on arrival, because the host that signs every third of them has lost a minute and a half."""

from TokenOptEnv.task_defs.incident.cases.refused_labels.case import SCENARIO_ID, build

__all__ = ["SCENARIO_ID", "build"]
