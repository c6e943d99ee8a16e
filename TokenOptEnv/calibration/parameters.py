"""The parameter files of both catalogs, as the fit makes them."""

from __future__ import annotations

from TokenOptEnv.calibration.behaviours import behaviours, constants
from TokenOptEnv.calibration.figures import Figures
from TokenOptEnv.calibration.fit import Fit
from TokenOptEnv.catalog import load_catalog
from TokenOptEnv.catalog.borrow import borrow_all
from TokenOptEnv.catalog.snapshot import BehavioursFile


def parameter_files(fit: Fit, figures: Figures) -> dict[str, BehavioursFile]:
    """By catalog: the measured models as fitted, the current ones with what they borrow of them."""
    measured = behaviours(fit)
    shared = constants(fit, figures, measured)
    lent = borrow_all(
        load_catalog("current"), load_catalog("measured"), {behaviour.model_id: behaviour for behaviour in measured}
    )
    return {
        "measured": BehavioursFile(fitted=figures.date, constants=shared, behaviours=measured),
        "current": BehavioursFile(fitted=figures.date, constants=shared, behaviours=lent),
    }
