"""Checked plans: what a case costs when one knows where the facts are."""

from TokenOptEnv.plans.plan import Plan
from TokenOptEnv.plans.plan_store import reference_costs, reference_plan

__all__ = ["Plan", "reference_costs", "reference_plan"]
