"""Bug fixes: a real package with one verified bug, the real report of its failing tests, and its recent past."""

from TokenOptEnv.task_defs.bugfix.cases import double_billing, lost_leases, regional_prices, undead_keys
from TokenOptEnv.task_defs.bugfix.generator import generate
from TokenOptEnv.task_defs.family import Family

FAMILY = Family(
    name="bugfix",
    asks="Which file, function and line of a package is at fault, and what minimal patch repairs it?",
    designed={
        regional_prices.SCENARIO_ID: regional_prices.build,
        lost_leases.SCENARIO_ID: lost_leases.build,
        undead_keys.SCENARIO_ID: undead_keys.build,
        double_billing.SCENARIO_ID: double_billing.build,
    },
    generate=generate,
)
