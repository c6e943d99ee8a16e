"""The words an incident is answered in, the same for every case.

Every case offers "none", `no_fault` and "close the page" among its choices, so that their presence says
nothing; choices stand in alphabetical order, so that their place says nothing either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from TokenOptEnv.models import FieldKind
from TokenOptEnv.task_defs.authoring import CaseBuilder

SERVICE: Final = "service"
FAULT_CLASS: Final = "fault_class"
TRIGGER: Final = "trigger"
REMEDIATION: Final = "remediation"

NO_SERVICE: Final = "none"
NO_TRIGGER: Final = "none"
NO_ACTION: Final = "close the page, no action"


class FaultClass(StrEnum):
    BAD_DEPLOY = "bad_deploy"
    CACHE_STAMPEDE = "cache_stampede"
    CLOCK_SKEW = "clock_skew"
    CONFIG_DRIFT = "config_drift"
    DEADLOCK = "deadlock"
    DISK_FULL = "disk_full"
    DNS = "dns"
    EXPIRED_CERTIFICATE = "expired_certificate"
    LEAK = "leak"
    NO_FAULT = "no_fault"
    NOISY_NEIGHBOUR = "noisy_neighbour"
    POISON_MESSAGE = "poison_message"
    POOL_EXHAUSTION = "pool_exhaustion"
    QUEUE_BACKPRESSURE = "queue_backpressure"
    RETRY_STORM = "retry_storm"


@dataclass(frozen=True)
class Conclusion:
    """One answer field's truth: the values accepted for it, canonical first, and the facts it rests on."""

    accepted: tuple[str, ...]
    path: tuple[str, ...]


@dataclass(frozen=True)
class Diagnosis:
    service: Conclusion
    fault_class: Conclusion
    trigger: Conclusion
    remediation: Conclusion


def ask_for_diagnosis(
    case: CaseBuilder, truth: Diagnosis, services: Sequence[str], remediations: Sequence[str]
) -> None:
    """Add the four answer fields; `services` and `remediations` are the case's own, without the "none" ones."""
    _ask_choice(case, SERVICE, "Which service is at fault, if any?", truth.service, [*services, NO_SERVICE])
    _ask_choice(case, FAULT_CLASS, "Which class of fault is it?", truth.fault_class, list(FaultClass))
    case.answer_field(
        TRIGGER,
        "Id of the deploy, change, job or object that set it off, or none",
        FieldKind.TEXT,
        truth.trigger.accepted,
        truth.trigger.path,
    )
    _ask_choice(case, REMEDIATION, "What should be done next?", truth.remediation, [*remediations, NO_ACTION])


def _ask_choice(case: CaseBuilder, name: str, question: str, truth: Conclusion, choices: Sequence[str]) -> None:
    ordered = sorted(str(choice) for choice in choices)
    case.answer_field(name, question, FieldKind.CHOICE, truth.accepted, truth.path, ordered)
