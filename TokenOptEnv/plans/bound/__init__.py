"""A lower bound on the cost of any success, computed without the planner."""

from TokenOptEnv.plans.bound.bound import lower_bound

__all__ = ["lower_bound"]
