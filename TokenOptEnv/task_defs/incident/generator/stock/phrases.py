"""How people and programs put things: what is said around the facts, apart for train and test.

Templates of log lines are filled with the names of the case; `{topics}` is a list of the suspects' topics, in
an order that says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lines:
    """What every service prints, whatever is wrong. One of each is drawn per case."""

    wired: tuple[str, ...]
    """{alias} {svc} {n}"""
    failed_late: tuple[str, ...]
    """{alias} {ms}: what a question may repeat stands before the comma"""
    failed_fast: tuple[str, ...]
    """{alias}: likewise"""
    gave_up: tuple[str, ...]
    """{ms}: its own doing, cause unknown to it"""
    undone: tuple[str, ...]
    """{trigger}"""
    chatter: tuple[str, ...]
    """{a} {b} {c}: numbers; {other}: a service that has nothing to do with it"""
    worries: tuple[str, ...]
    """The same, as warnings that mean nothing."""


@dataclass(frozen=True, slots=True)
class Talk:
    """What people write in tickets, chats and lists of changes."""

    people: tuple[str, ...]
    alert: tuple[str, ...]
    """{unit} {cell}"""
    flapping: tuple[str, ...]
    """{other}"""
    sample: tuple[str, ...]
    """{tenant} {time} {unit}"""
    page_sample: tuple[str, ...]
    """{request} {time}"""
    service_guess: tuple[str, ...]
    """{svc} {topic} {unit}"""
    cause_guess: tuple[str, ...]
    """{svc} {topic} {trigger}"""
    next_guess: tuple[str, ...]
    """{svc} {topic} {remedy}"""
    small_talk: tuple[str, ...]
    other_changes: tuple[str, ...]
    """{svc}"""
    other_advice: tuple[str, ...]
    generic_remedies: tuple[str, ...]
    """{front}"""


@dataclass(frozen=True, slots=True)
class Questions:
    """Each in words that the facts do not use, and in words that they do."""

    trace: tuple[str, ...]
    trace_lexical: tuple[str, ...]
    """{tenant}"""
    trace_said: str
    """Added where it is also asked who is at fault: {said}"""
    locate: tuple[str, ...]
    locate_lexical: tuple[str, ...]
    """{tenant} {alias}"""
    service: tuple[str, ...]
    service_lexical: tuple[str, ...]
    """{said} {asks} {topics}: what the front prints about a failed call, and what is asked"""
    cause: tuple[str, ...]
    cause_lexical: tuple[str, ...]
    """{topics}"""
    survey: tuple[str, ...]
    earlier: tuple[str, ...]
    """How others asked before: {asks} {unit} {cell}"""
    earlier_survey: tuple[str, ...]
    asks: dict[str, str]
    """By field: what is asked, to be joined where a question yields several."""


@dataclass(frozen=True, slots=True)
class Phrases:
    lines: Lines
    talk: Talk
    questions: Questions
