"""Continuous integration: a history of commits, long logs of real test runs, and which commit broke what."""

from __future__ import annotations

from TokenOptEnv.task_defs.ci.cases import ferrybook, parcelrate, rotaboard, tidemark
from TokenOptEnv.task_defs.ci.generator import generate
from TokenOptEnv.task_defs.family import Family

FAMILY = Family(
    name="ci",
    asks="which commit introduced the failure, which test shows it, and what class of failure it is",
    designed={
        tidemark.SCENARIO_ID: tidemark.build,
        parcelrate.SCENARIO_ID: parcelrate.build,
        ferrybook.SCENARIO_ID: ferrybook.build,
        rotaboard.SCENARIO_ID: rotaboard.build,
    },
    generate=generate,
)
