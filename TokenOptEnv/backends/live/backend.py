"""One answer for one content. What was answered once is never asked again, in this run or a later one.

So asking again never re-rolls the dice, a run that was killed goes on where it stood at no further cost, and a
recording replays to the very trace that the live run left.
"""

from __future__ import annotations

import threading
import time
from typing import Literal

from TokenOptEnv.backends.live.chat import Chat
from TokenOptEnv.backends.live.conversation import Outcome, ask
from TokenOptEnv.backends.live.endpoint import Endpoint
from TokenOptEnv.backends.live.purse import Purse
from TokenOptEnv.backends.live.spending_cap import SpendingCap
from TokenOptEnv.backends.live_settings import LiveSettings
from TokenOptEnv.backends.question import public_of
from TokenOptEnv.backends.recording import Answered, Recorder, Unanswered
from TokenOptEnv.backends.request_key import request_key
from TokenOptEnv.catalog import CATALOGS, load_catalog
from TokenOptEnv.errors import UnknownName
from TokenOptEnv.models import ModelCard
from TokenOptEnv.simulators.backend import RouteReply, RouteRequest


class LiveBackend:
    """Episodes in several threads may share it."""

    def __init__(self, endpoint: Endpoint, recorder: Recorder, settings: LiveSettings) -> None:
        self._chat = Chat(endpoint, settings.waits_s)
        self._recorder = recorder
        self._settings = settings
        self._cap = SpendingCap(settings.cap_nano_usd, recorder.spent_nano_usd)
        self._seats = threading.BoundedSemaphore(settings.at_once)
        self._turns: dict[str, threading.Lock] = {}
        self._turns_turn = threading.Lock()

    @property
    def waits(self) -> Literal[True]:
        return True

    def answer(self, request: RouteRequest) -> RouteReply:
        key = request_key(request)
        with self._turn_of(key):
            return (self._recorder.answer(key) or self._asked(request, key)).reply()

    def close(self) -> None:
        self._recorder.close()

    def _turn_of(self, key: str) -> threading.Lock:
        """Who asks the same at the same time waits for that answer."""
        with self._turns_turn:
            return self._turns.setdefault(key, threading.Lock())

    def _asked(self, request: RouteRequest, key: str) -> Answered:
        purse = Purse(key, self._cap, self._recorder)
        with self._seats:
            begun_s = time.monotonic()
            try:
                outcome = ask(self._chat, request, _card(request.model_id), self._settings, purse)
            except BaseException:
                self._give_up(request, key, purse)
                raise
            answered = self._answered(request, key, outcome, purse, round((time.monotonic() - begun_s) * 1_000))
            self._recorder.add(answered)
        return answered

    def _give_up(self, request: RouteRequest, key: str, purse: Purse) -> None:
        if purse.calls:
            self._recorder.add(
                Unanswered(
                    key=key, subtask_id=request.subtask_id, model_id=request.model_id, nano_usd=purse.paid_nano_usd
                )
            )

    def _answered(self, request: RouteRequest, key: str, outcome: Outcome, purse: Purse, elapsed_ms: int) -> Answered:
        answer, usage = outcome.answer, outcome.usage
        return Answered(
            key=key,
            scenario_id=public_of(request).scenario_id,
            subtask_id=request.subtask_id,
            model_id=request.model_id,
            served_as=self._settings.name_of(request.model_id),
            effort=request.effort,
            values=answer.values,
            text=answer.text,
            confidence=answer.confidence,
            cites=answer.cites,
            prompt_tokens=usage.billed.prompt_tokens,
            cached_tokens=usage.billed.cached_tokens,
            completion_tokens=usage.billed.completion_tokens,
            reasoning_tokens=usage.reasoning_tokens,
            counted_by=usage.counted_by,
            replies=outcome.replies,
            nano_usd=purse.paid_nano_usd,
            elapsed_ms=elapsed_ms,
            messages=outcome.messages if self._settings.keep_texts else None,
        )


def _card(model_id: str) -> ModelCard:
    """At the catalog's own prices: a scenario's price table is a market of its own, and real money is not in it."""
    cards = {name: card for catalog in CATALOGS for name, card in load_catalog(catalog).cards.items()}
    if model_id not in cards:
        raise UnknownName("model", model_id, cards, "camre catalog show")
    return cards[model_id]
