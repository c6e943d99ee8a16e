"""Sessions: a live WebSocket each, with an environment of its own, for as long as it lives.

A session ends when its connection does and never before: there is no idle limit that could close one whose
agent is thinking. A peer that has vanished is found by the pings of the protocol (`Settings.ping_seconds`),
which a live one answers by itself however idle it is. Either way the slot is free again.

Who asks faster than is allowed is answered later, and with no error: an agent notices nothing but the time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, Protocol

from fastapi import WebSocket, WebSocketDisconnect
from openenv.core.env_server.types import WSErrorCode
from starlette.types import Message as Event

from TokenOptEnv.errors import CamreError
from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvObservation, TokenOptEnvState
from TokenOptEnv.server import faults, frames
from TokenOptEnv.server.frames import CloseMessage, FrameRefused, ResetMessage, StateMessage, StepMessage
from TokenOptEnv.server.observation_writer import ObservationWriter
from TokenOptEnv.server.rate import Bucket

_TRY_AGAIN_LATER: Final = 1013
_POLICY_VIOLATION: Final = 1008


class Played(Protocol):
    """What a session needs of its environment."""

    @property
    def state(self) -> TokenOptEnvState: ...
    async def reset_async(self, /, **options: Any) -> TokenOptEnvObservation: ...
    async def step_async(self, /, action: TokenOptEnvAction) -> TokenOptEnvObservation: ...
    def close(self) -> None: ...


class Sessions:
    """The slots of one process. Counted on the event loop alone, so no lock is needed."""

    def __init__(
        self,
        open_environment: Callable[[], Played],
        capacity: int,
        max_message_bytes: int,
        messages_per_second: int = 0,
    ) -> None:
        self._open_environment = open_environment
        self.capacity = capacity
        self.active = 0
        self._max_message_bytes = max_message_bytes
        self._messages_per_second = messages_per_second

    async def serve(self, socket: WebSocket) -> None:
        await socket.accept()
        try:
            if "session_id" in socket.query_params:
                told = "sessions cannot be joined; connect without session_id to open one"
                await socket.send_text(frames.error_frame(WSErrorCode.SESSION_ERROR, told))
                await socket.close(_POLICY_VIOLATION)
            elif self.active >= self.capacity:
                await socket.send_text(frames.capacity_frame(self.active, self.capacity))
                await socket.close(_TRY_AGAIN_LATER)
            else:
                await self._hold(socket)
        except WebSocketDisconnect:
            pass

    async def _hold(self, socket: WebSocket) -> None:
        self.active += 1
        environment = self._open_environment()
        writer = ObservationWriter()
        pace = Bucket(self._messages_per_second) if self._messages_per_second else None
        try:
            while (answer := await self._answer(environment, writer, await socket.receive())) is not None:
                if pace is not None:
                    await asyncio.sleep(pace.wait_s())
                await socket.send_text(answer)
            await socket.close()
        finally:
            environment.close()
            self.active -= 1

    async def _answer(self, environment: Played, writer: ObservationWriter, event: Event) -> str | None:
        """The frame to send back; None when the client wants to leave."""
        if event["type"] == "websocket.disconnect":
            raise WebSocketDisconnect
        try:
            with faults.guarded():
                return await _played(environment, writer, frames.parse(self._text(event)))
        except FrameRefused as refused:
            return frames.error_frame(refused.code, str(refused))
        except (CamreError, faults.InternalFault) as fault:
            return frames.error_frame(WSErrorCode.EXECUTION_ERROR, str(fault))

    def _text(self, event: Event) -> str:
        text = event.get("text")
        if not isinstance(text, str):
            raise FrameRefused(WSErrorCode.INVALID_JSON, "a binary frame; send each message as text, one JSON object")
        if len(text) > self._max_message_bytes or len(text.encode()) > self._max_message_bytes:
            raise FrameRefused(
                WSErrorCode.VALIDATION_ERROR,
                f"a frame of {len(text)} characters; at most {self._max_message_bytes} bytes are read",
            )
        return text


async def _played(environment: Played, writer: ObservationWriter, message: frames.Message) -> str | None:
    match message:
        case StepMessage(data=action):
            return writer.frame(await environment.step_async(action))
        case ResetMessage(data=options):
            return writer.frame(await environment.reset_async(**options))
        case StateMessage():
            return frames.state_frame(environment.state)
        case CloseMessage():
            return None
