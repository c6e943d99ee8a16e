"""A whole chat completion from one endpoint, tried as often and in as many forms as its server needs."""

from __future__ import annotations

import time
from typing import Any, Final, NamedTuple

from TokenOptEnv.backends.live.dialects import DIALECTS, ChatRequest
from TokenOptEnv.backends.live.endpoint import Endpoint, EndpointFault, Lost, Turned, Unusable
from TokenOptEnv.backends.live.purse import Purse
from TokenOptEnv.backends.live.spending_cap import paid_nano_usd, worst_nano_usd
from TokenOptEnv.backends.live.usage import Usage, usage_of
from TokenOptEnv.backends.live_settings import KEY
from TokenOptEnv.errors import BackendFailed
from TokenOptEnv.models import ModelCard
from TokenOptEnv.streams import uniform

_BUSY: Final = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 529))
_WRONG_FORM: Final = frozenset((400, 422))
_LONGEST_WAIT_S: Final = 60.0


class Completion(NamedTuple):
    content: str
    was_cut: bool
    """The bound on its length ended it."""
    usage: Usage


class Chat:
    def __init__(self, endpoint: Endpoint, waits_s: tuple[float, ...]) -> None:
        self._endpoint = endpoint
        self._waits_s = waits_s
        self._dialects: dict[str, int] = {}
        """By served model: the first form it took."""

    def complete(self, asked: ChatRequest, card: ModelCard, purse: Purse) -> Completion:
        dialect, tries = self._dialects.get(asked.model, 0), 0
        while True:
            try:
                completion = self._once(asked, dialect, card, purse)
            except Turned as fault:
                if fault.status in _WRONG_FORM and dialect + 1 < len(DIALECTS):
                    dialect += 1
                    continue
                if fault.status not in _BUSY:
                    raise _failed(asked, str(fault), _remedy(fault.status)) from None
                self._wait(asked, fault, tries, fault.retry_after_s)
            except Unusable as fault:
                raise _failed(asked, str(fault), "is it OpenAI-compatible?") from None
            except EndpointFault as fault:
                self._wait(asked, fault, tries, None)
            else:
                self._dialects[asked.model] = dialect
                return completion
            tries += 1

    def _once(self, asked: ChatRequest, dialect: int, card: ModelCard, purse: Purse) -> Completion:
        texts = tuple(message.content for message in asked.messages)
        with purse.call(worst_nano_usd(card, texts, asked.most_tokens)) as bill:
            try:
                reply = self._endpoint.post(DIALECTS[dialect](asked))
            except Lost:
                raise
            except EndpointFault:
                bill.nano_usd = 0
                raise
            content, was_cut = _message(reply)
            usage = usage_of(reply.get("usage"), card, "\n".join(texts), content, asked.most_tokens)
            bill.nano_usd = paid_nano_usd(card, usage.billed)
        return Completion(content, was_cut, usage)

    def _wait(self, asked: ChatRequest, fault: EndpointFault, tries: int, retry_after_s: float | None) -> None:
        """Longer each time, and not in step with others that were turned away with us."""
        if tries == len(self._waits_s):
            raise _failed(asked, f"{fault}, {tries + 1} times", "is it running, and is this its address?") from None
        if retry_after_s is not None and retry_after_s > _LONGEST_WAIT_S:
            raise _failed(asked, f"{fault} and asks to wait {retry_after_s:.0f} s", "try later;") from None
        spread = 0.75 + 0.5 * uniform("retry", asked.model, tries, *(message.content for message in asked.messages))
        time.sleep(max(self._waits_s[tries] * spread, retry_after_s or 0.0))


def _message(reply: dict[str, Any]) -> tuple[str, bool]:
    """A model that refuses, or only thinks, says nothing; that is for the reader of its answer to judge."""
    try:
        choice = reply["choices"][0]
        content = choice["message"].get("content") or ""
    except (KeyError, IndexError, TypeError, AttributeError):
        raise Unusable("its reply holds no choices[0].message") from None
    if not isinstance(content, str):
        raise Unusable("its message is no text")
    return content, choice.get("finish_reason") == "length"


def _failed(asked: ChatRequest, cause: str, remedy: str) -> BackendFailed:
    return BackendFailed(
        f"the server of model {asked.model!r} fails: {cause}; {remedy}"
        " what was answered is recorded: run again to go on"
    )


def _remedy(status: int) -> str:
    if status in (401, 403):
        return f"check the key in {KEY};"
    if 300 <= status < 400:
        return "redirects are not followed: give the final address;"
    if status in _WRONG_FORM:
        return "it takes none of the forms known here: check the model's name, and how much it can read;"
    return "check the model's name, and that the address ends as the server wants it, often in /v1;"
