"""The frames of a session, as OpenEnv's clients send and read them.

A frame is parsed straight into a typed message, which makes every malformed frame one kind of error. Observations are
written by `observation_writer`; what else is said, here.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from openenv.core.env_server.types import WSErrorCode
from pydantic import Field, TypeAdapter, ValidationError

from TokenOptEnv.errors import CamreError
from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvState
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.server import faults


class ResetMessage(Frozen):
    type: Literal["reset"]
    data: dict[str, Any] = Field(default_factory=dict)


class StepMessage(Frozen):
    type: Literal["step"]
    data: TokenOptEnvAction


class StateMessage(Frozen):
    type: Literal["state"]


class CloseMessage(Frozen):
    type: Literal["close"]


Message = ResetMessage | StepMessage | StateMessage | CloseMessage

_MESSAGES: Final[TypeAdapter[Message]] = TypeAdapter(Annotated[Message, Field(discriminator="type")])
_CODES: Final = {
    "json_invalid": WSErrorCode.INVALID_JSON,
    "union_tag_invalid": WSErrorCode.UNKNOWN_TYPE,
    "union_tag_not_found": WSErrorCode.UNKNOWN_TYPE,
}


class _StateFrame(Frozen):
    type: Literal["state"] = "state"
    data: TokenOptEnvState


class _Fault(Frozen):
    message: str
    code: str


class _CapacityFault(_Fault):
    active_sessions: int
    max_sessions: int


class _ErrorFrame(Frozen):
    type: Literal["error"] = "error"
    data: _CapacityFault | _Fault


class FrameRefused(CamreError):
    """A frame that is no message. The session it came on goes on."""

    def __init__(self, code: WSErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def parse(text: str) -> Message:
    try:
        return _MESSAGES.validate_json(text)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False, include_input=False)
        code = _CODES.get(errors[0]["type"], WSErrorCode.VALIDATION_ERROR)
        raise FrameRefused(code, f"not a message: {faults.problems(errors)}") from None


def state_frame(state: TokenOptEnvState) -> str:
    return _StateFrame(data=state).model_dump_json()


def error_frame(code: WSErrorCode, message: str) -> str:
    return _ErrorFrame(data=_Fault(message=faults.shown(message), code=code.value)).model_dump_json()


def capacity_frame(active: int, capacity: int) -> str:
    fault = _CapacityFault(
        message=f"all {capacity} sessions are taken; try again when one has closed",
        code=WSErrorCode.CAPACITY_REACHED.value,
        active_sessions=active,
        max_sessions=capacity,
    )
    return _ErrorFrame(data=fault).model_dump_json()
