"""What every case of the family asks for, so that generated and designed cases are graded alike."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from TokenOptEnv.models import FieldKind
from TokenOptEnv.task_defs.authoring import CaseBuilder

CULPRIT = "culprit"
FAILING_TEST = "failing_test"
FAILURE_CLASS = "failure_class"
NONE = "none"


class FailureClass(StrEnum):
    INFRASTRUCTURE = "infrastructure"
    FLAKY_TEST = "flaky_test"
    REGRESSION = "regression"
    DEPENDENCY_UPDATE = "dependency_update"
    CONFIG_ERROR = "config_error"
    NONE = "none"


def ask_culprit(case: CaseBuilder, sha: str, path: Sequence[str]) -> None:
    case.answer_field(
        CULPRIT, "Short sha of the commit that introduced the failure, or none.", FieldKind.TEXT, (sha,), path
    )


def ask_failing_test(case: CaseBuilder, test_id: str, tests: Sequence[str], path: Sequence[str]) -> None:
    """`tests` are the ids offered, in the order a test listing shows them."""
    case.answer_field(
        FAILING_TEST, "Which test fails in a gating job?", FieldKind.CHOICE, (test_id,), path, (*tests, NONE)
    )


def ask_failure_class(case: CaseBuilder, failure_class: FailureClass, path: Sequence[str]) -> None:
    case.answer_field(
        FAILURE_CLASS,
        "What class of failure is it?",
        FieldKind.CHOICE,
        (failure_class.value,),
        path,
        tuple(option.value for option in FailureClass),
    )
