"""Which models each catalog holds."""

from typing import Final

from TokenOptEnv.catalog.roster.current import CURRENT
from TokenOptEnv.catalog.roster.measured import MEASURED
from TokenOptEnv.catalog.spec import ModelSpec

ROSTERS: Final[dict[str, tuple[ModelSpec, ...]]] = {"measured": MEASURED, "current": CURRENT}
