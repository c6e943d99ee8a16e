"""What a user writes down to turn evidence into a case: a story, quotes, questions with their answers.

All else is derived: segments, token counts, budgets, difficulty, earlier results, and, where none are named,
plausible wrong answers with what speaks for them.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints

from TokenOptEnv.models.base import Frozen
from TokenOptEnv.scenario import QuestionKind


def _as_list(value: object) -> object:
    """One may be written without brackets."""
    return (value,) if isinstance(value, str | dict) else value


Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(?:[-_][a-z0-9]+)*$", max_length=48)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_as_list)]


class QuoteSpec(Frozen):
    """Evidence: quoted text, or the numbers of its lines, in one file or (quotes alone) in any."""

    file: str | None = None
    quote: Texts = ()
    """Any one of them shows it."""
    lines: str | None = None


class EvidenceSpec(QuoteSpec):
    id: Name
    why: str = ""


class WrongSpec(Frozen):
    answer: Text
    says: str = ""
    decoys: Annotated[tuple[Name, ...], BeforeValidator(_as_list)] = ()
    """What speaks for it; looked for when left out."""


def _as_wrong(value: object) -> object:
    if isinstance(value, str | dict):
        value = [value]
    if isinstance(value, list | tuple):
        return [{"answer": each} if isinstance(each, str) else each for each in value]
    return value


class QuestionSpec(QuoteSpec):
    """`{name}` in `ask` stands for the answer to the earlier question whose field has that name."""

    ask: Text
    answer: Texts
    """The first is what a right model says; any of them is accepted."""
    id: Name | None = None
    field: Name | None = None
    kind: QuestionKind = QuestionKind.LOOKUP
    needs: Annotated[tuple[Name, ...], BeforeValidator(_as_list)] = ()
    says: str = ""
    choices: Annotated[tuple[Text, ...], BeforeValidator(_as_list)] = ()
    wrong: Annotated[tuple[WrongSpec, ...], BeforeValidator(_as_wrong)] = ()


class GitSpec(Frozen):
    """A history in which one commit is known to be bad."""

    repository: str
    bad: str
    good: str | None = None
    """Known to be sound: the history begins after it; some commits before the bad one when left out."""
    until: str = "HEAD"
    """What is checked out when the question is asked."""


class CaseSpec(Frozen):
    slug: Name
    title: Text
    brief: Text
    version: Text = "current"
    """What the evidence is about: a release, a build, a date."""
    sources: Texts = ()
    """Files and folders, relative to the file that names them."""
    encoding: str | None = None
    fact: tuple[EvidenceSpec, ...] = ()
    decoy: tuple[EvidenceSpec, ...] = ()
    question: Annotated[tuple[QuestionSpec, ...], Field(max_length=6)] = ()
    git: GitSpec | None = None
