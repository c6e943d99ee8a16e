"""Easy: a memoised price list that answers one region with the price of another."""

from TokenOptEnv.task_defs.bugfix.cases.regional_prices.case import SCENARIO_ID, build

__all__ = ["SCENARIO_ID", "build"]
