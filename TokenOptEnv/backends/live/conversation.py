"""A question put to a real model: its reply, and at most one repair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from TokenOptEnv.backends.live import worker_prompt
from TokenOptEnv.backends.live.answer_form import NO_ANSWER, Answer, AnswerForm, WrongForm
from TokenOptEnv.backends.live.chat import Chat, Completion
from TokenOptEnv.backends.live.dialects import ChatRequest
from TokenOptEnv.backends.live.purse import Purse
from TokenOptEnv.backends.live.usage import Usage
from TokenOptEnv.backends.live_settings import LiveSettings
from TokenOptEnv.backends.recording import Message
from TokenOptEnv.models import ModelCard
from TokenOptEnv.simulators.backend import RouteRequest

_REPEATED_CHARACTERS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Outcome:
    answer: Answer
    usage: Usage
    replies: int
    messages: tuple[Message, ...]


def ask(chat: Chat, request: RouteRequest, card: ModelCard, settings: LiveSettings, purse: Purse) -> Outcome:
    form = AnswerForm(request)
    asked = ChatRequest(
        model=settings.name_of(request.model_id),
        messages=worker_prompt.messages(request),
        most_tokens=settings.reply_tokens + settings.reasoning_room * card.reasoning_tokens[request.effort],
        effort=request.effort,
        schema=form.schema(),
    )
    first = chat.complete(asked, card, purse)
    try:
        return Outcome(_read(form, first), first.usage, 1, (*asked.messages, _said(first)))
    except WrongForm as fault:
        again = (*asked.messages, _said(first), worker_prompt.repair(request, str(fault)))
    second = chat.complete(replace(asked, messages=again), card, purse)
    try:
        answer = _read(form, second)
    except WrongForm:
        answer = NO_ANSWER
    return Outcome(answer, first.usage + second.usage, 2, (*again, _said(second)))


def _read(form: AnswerForm, completion: Completion) -> Answer:
    try:
        return form.read(completion.content)
    except WrongForm:
        if completion.was_cut:
            raise WrongForm("it was cut off, so be much shorter") from None
        raise


def _said(completion: Completion) -> Message:
    return Message(role="assistant", content=completion.content[:_REPEATED_CHARACTERS] or "(nothing)")
