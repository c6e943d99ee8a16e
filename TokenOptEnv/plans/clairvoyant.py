"""The clairvoyant plan: it knows the draws too, so it asks nobody who would be wrong.

It tries what each model would really say, on all the needed facts and on fewer of them, and takes the cheapest
that is right. It never costs more than the reference.
"""

from __future__ import annotations

from itertools import islice

from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.plans.foresight import play_with_foresight
from TokenOptEnv.plans.kit import kit_of
from TokenOptEnv.plans.plan import Plan, plan_of
from TokenOptEnv.plans.reference import expected_programs
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.world import build_world


def make_clairvoyant_plan(scenario: Scenario, seed: int, config: EpisodeConfig, reference: Plan) -> Plan:
    kit = kit_of(scenario, config)
    best = play_with_foresight(build_world(scenario, seed, config), kit, islice(expected_programs(scenario, kit), 1))
    if best is None or best.score is None or best.nano_usd >= reference.nano_usd:
        return reference
    return plan_of(scenario, seed, best.actions, best.score)
