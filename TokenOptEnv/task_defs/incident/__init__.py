"""Incidents: which service failed, how, what set it off, and what to do; or that nothing did."""

from TokenOptEnv.task_defs.family import Family
from TokenOptEnv.task_defs.incident.cases import (
    checkout_estimates,
    kafka_backpressure,
    late_readings,
    orders_cell2,
    refused_labels,
)
from TokenOptEnv.task_defs.incident.generator import generate

FAMILY = Family(
    name="incident",
    asks="Which service is at fault, the class of fault, what set it off, and what to do next.",
    designed={
        case.SCENARIO_ID: case.build
        for case in (checkout_estimates, orders_cell2, kafka_backpressure, refused_labels, late_readings)
    },
    generate=generate,
)
