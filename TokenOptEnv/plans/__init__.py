"""Checked plans: what a case costs when one knows where the facts are."""

from TokenOptEnv.plans.plan import Plan
from TokenOptEnv.plans.plan_store import bound_nano_usd, clairvoyant_plan, reference_costs, reference_plan

__all__ = ["Plan", "bound_nano_usd", "clairvoyant_plan", "reference_costs", "reference_plan"]
