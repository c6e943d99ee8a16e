"""Tide readings come late two nights running, on other nodes each time: a stranger's job takes the disk they share."""

from TokenOptEnv.task_defs.incident.cases.late_readings.case import SCENARIO_ID, build

__all__ = ["SCENARIO_ID", "build"]
