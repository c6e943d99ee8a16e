"""`llm:MODEL`: any model behind an OpenAI-compatible endpoint plays.

It reads `render_text`, the very prompt that the controller is billed for, anew at every step, and replies with one
short action. Address and key come from the environment. Neither they nor any prompt ever stand in a file, a log or
an error: a server's own error text may repeat both, so it is never shown.
"""

from __future__ import annotations

import json
import os
import time
from functools import lru_cache
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from TokenOptEnv.config import YARDSTICK
from TokenOptEnv.errors import BadInput
from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.policies.base import ModelUsage, Policy, PolicyInfo, PolicyScheme
from TokenOptEnv.policies.reply import action_of
from TokenOptEnv.prompt import render_text
from TokenOptEnv.simulators import tokens

_ADDRESS: Final = ("CAMRE_LLM_BASE_URL", "OPENAI_BASE_URL")
_KEY: Final = ("CAMRE_LLM_API_KEY", "OPENAI_API_KEY")
_TIMEOUT_S: Final = 120.0
_WAITS_S: Final = (1.0, 4.0, 15.0)
"""Before each further try: servers are busy now and then."""
_BUSY: Final = frozenset((408, 409, 425, 429, 500, 502, 503, 504))
_MOST_COMPLETION_TOKENS: Final = 1_024
_MOST_REPLY_BYTES: Final = 4_000_000


class _NoRedirects(HTTPRedirectHandler):
    """A redirect would carry the key to wherever it points."""

    def redirect_request(self, *ignored: Any) -> None:
        return None


class Endpoint:
    """One chat model: a prompt in, a text and its usage out."""

    def __init__(self, address: str, key: str | None, model: str) -> None:
        if urlsplit(address).scheme not in ("http", "https"):
            raise BadInput(f"{_ADDRESS[0]} must begin with http:// or https://")
        self._url = address.rstrip("/") + "/chat/completions"
        self._key = key
        self._model = model
        self._opener: OpenerDirector = build_opener(_NoRedirects)
        self._plain = False
        """The server knows neither temperature nor `max_tokens`, as those of reasoning models do not."""

    def ask(self, prompt: str) -> tuple[str, ModelUsage]:
        reply = self._post(self._body(prompt))
        try:
            content = reply["choices"][0]["message"].get("content") or ""
            used = reply.get("usage") or {}
            cached = (used.get("prompt_tokens_details") or {}).get("cached_tokens")
            return str(content), ModelUsage(
                calls=1,
                prompt_tokens=_count(used.get("prompt_tokens"), prompt),
                cached_tokens=_count(cached, ""),
                completion_tokens=_count(used.get("completion_tokens"), str(content)),
            )
        except (KeyError, IndexError, TypeError, AttributeError):
            raise self._fault("its reply holds no choices[0].message", "is it OpenAI-compatible?") from None

    def _body(self, prompt: str) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._model, "messages": [{"role": "user", "content": prompt}]}
        if self._plain:
            return body
        return {**body, "temperature": 0, "max_tokens": _MOST_COMPLETION_TOKENS}

    def _post(self, body: dict[str, Any]) -> Any:
        for wait_s in (*_WAITS_S, None):
            try:
                return self._once(body)
            except HTTPError as fault:
                fault.close()
                status = fault.code
                if status == 400 and not self._plain:
                    self._plain = True
                    return self._post({name: body[name] for name in ("model", "messages")})
                if status not in _BUSY:
                    raise self._fault(f"it answered {status}", _remedy(status)) from None
                cause = f"it still answered {status} after {len(_WAITS_S) + 1} tries"
            except (URLError, HTTPException, OSError):
                cause = f"it could not be reached in {len(_WAITS_S) + 1} tries"
            except ValueError:
                raise self._fault("its reply is no JSON", "is it OpenAI-compatible?") from None
            if wait_s is None:
                raise self._fault(cause, f"is it running, and is {_ADDRESS[0]} its address? what was played is kept")
            time.sleep(wait_s)
        raise AssertionError("the last try returns or raises")

    def _once(self, body: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self._url, json.dumps(body).encode(), headers, method="POST")
        with self._opener.open(request, timeout=_TIMEOUT_S) as reply:
            return json.loads(reply.read(_MOST_REPLY_BYTES))

    def _fault(self, cause: str, remedy: str) -> BadInput:
        return BadInput(f"the server of model {self._model!r} fails: {cause}; {remedy}")


class Llm:
    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.usage = ModelUsage.total()

    def act(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        text, used = self._endpoint.ask(render_text(observation))
        self.usage = ModelUsage.total(self.usage, used)
        return action_of(text, used.completion_tokens, observation)


def _resolve(model: str) -> PolicyInfo:
    if not model.strip():
        raise BadInput("policy 'llm:' names no model; write it like llm:MODEL")

    def made(seed: int) -> Policy:
        address = _environment(_ADDRESS)
        if address is None:
            raise BadInput(f"policy 'llm:{model}' needs {_ADDRESS[0]}: the address of an OpenAI-compatible server")
        return Llm(_endpoint(address, _environment(_KEY), model))

    return PolicyInfo(f"llm:{model}", f"{model} reads the prompt and replies with an action", made)


@lru_cache(maxsize=8)
def _endpoint(address: str, key: str | None, model: str) -> Endpoint:
    """Kept between episodes, since what it learns of the server holds for all of them."""
    return Endpoint(address, key, model)


def _environment(names: tuple[str, ...]) -> str | None:
    return next((value for value in map(os.environ.get, names) if value), None)


def _remedy(status: int) -> str:
    if status in (401, 403):
        return f"check {_KEY[0]}"
    if status in (301, 302, 303, 307, 308):
        return f"redirects are not followed: give {_ADDRESS[0]} its final address"
    return f"check the model's name, and that {_ADDRESS[0]} ends as the server wants it, often in /v1"


def _count(stated: object, text: str) -> int:
    """What the server says, but never less than what we see of it: nobody counts for himself here."""
    seen = tokens.count(YARDSTICK, text)
    return max(seen, stated) if isinstance(stated, int) and not isinstance(stated, bool) else seen


SCHEME = PolicyScheme("llm", "MODEL", "a model behind an OpenAI-compatible endpoint (CAMRE_LLM_BASE_URL)", _resolve)
