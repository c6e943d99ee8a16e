"""`/mcp`: JSON-RPC that says where the tools are.

OpenEnv's server always has this endpoint. Its tool calls would bypass `step`, and with it the ledger and the
reward, so none are offered here: an episode is played on `/ws`, and `camre mcp` offers its actions as tools.
"""

from __future__ import annotations

from typing import Final, Literal

from fastapi import Request, Response, WebSocket, WebSocketDisconnect
from pydantic import ValidationError

from TokenOptEnv.models.base import Frozen

_PARSE_ERROR: Final = -32700
_INVALID_REQUEST: Final = -32600
_METHOD_NOT_FOUND: Final = -32601
_LONGEST_ID: Final = 80


class _Call(Frozen, extra="ignore"):
    jsonrpc: Literal["2.0"]
    method: str
    id: int | str | None = None


class _Error(Frozen):
    code: int
    message: str


class _Refusal(Frozen):
    jsonrpc: Literal["2.0"] = "2.0"
    id: int | str | None
    error: _Error


def answer(body: bytes | str) -> str:
    try:
        call = _Call.model_validate_json(body)
    except ValidationError as error:
        if error.errors(include_url=False, include_context=False, include_input=False)[0]["type"] == "json_invalid":
            return _refuse(None, _PARSE_ERROR, "not JSON")
        return _refuse(None, _INVALID_REQUEST, "not a JSON-RPC 2.0 call")
    name = call.id if isinstance(call.id, int) or call.id is None else call.id[:_LONGEST_ID]
    return _refuse(name, _METHOD_NOT_FOUND, "no MCP tools here: play over /ws, or run: camre mcp")


def _refuse(name: int | str | None, code: int, message: str) -> str:
    return _Refusal(id=name, error=_Error(code=code, message=message)).model_dump_json()


async def over_http(request: Request) -> Response:
    return Response(answer(await request.body()), media_type="application/json")


async def over_websocket(socket: WebSocket) -> None:
    await socket.accept()
    try:
        while (event := await socket.receive())["type"] != "websocket.disconnect":
            await socket.send_text(answer(event.get("text") or b""))
    except WebSocketDisconnect:
        pass
