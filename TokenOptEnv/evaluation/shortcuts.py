"""Shortcuts: what a guesser scores that reads almost nothing.

Each guesser sees public halves only, and may learn beforehand from cases whose answers are known. It is judged on the
answer fields alone, nothing has to be grounded: the most that the habit it stands for can be worth. A suite has no
shortcut where none of them is right more often than always saying that nothing is wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log

from TokenOptEnv.grading import same_text
from TokenOptEnv.models import AnswerField, ArtifactKind, FieldKind
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.scenario import Artifact, PublicScenario, Scenario
from TokenOptEnv.simulators import terms

MARGIN = 0.05
"""How much more than the share of cases without a fault a guesser may get right."""

_TOKEN = re.compile(r"[A-Za-z0-9_./:-]*[A-Za-z0-9_]")
_DIGIT = re.compile(r"[0-9]")
_HEXADECIMAL = re.compile(r"[0-9a-f]{7,40}")
_CHANGES = (ArtifactKind.HISTORY, ArtifactKind.DIFF)


@dataclass(frozen=True, slots=True)
class Known:
    """A case with its answers, to learn from and to be judged by."""

    public: PublicScenario
    answers: Mapping[str, tuple[str, ...]]
    """By field: the values accepted; for a patch, those that pass."""
    no_fault: bool


def known(scenario: Scenario, no_fault: bool) -> Known:
    kinds = {field.name: field.kind for field in scenario.public.answer_fields}
    passing = tuple(patch for patch, passed in scenario.hidden.verdicts.items() if passed)
    return Known(
        scenario.public,
        {
            truth.name: passing if kinds[truth.name] is FieldKind.PATCH else truth.accepted
            for truth in scenario.hidden.fields
        },
        no_fault,
    )


Guesser = Callable[[PublicScenario, AnswerField], str]


class Score(Frozen):
    """Of one guesser over a suite."""

    guesser: str
    success: float
    """The share of cases with every field right."""
    fields: float
    """The share of fields right."""


class Report(Frozen):
    cases: int
    no_fault_share: float
    scores: tuple[Score, ...]

    @property
    def shortcuts(self) -> tuple[Score, ...]:
        return tuple(score for score in self.scores if score.success > self.no_fault_share + MARGIN)


def report(learnt_from: Sequence[Known], judged: Sequence[Known]) -> Report:
    return Report(
        cases=len(judged),
        no_fault_share=round(sum(case.no_fault for case in judged) / len(judged), 4),
        scores=tuple(_score(name, guess, judged) for name, guess in _guessers(learnt_from).items()),
    )


def _score(name: str, guess: Guesser, judged: Sequence[Known]) -> Score:
    right = [
        [
            any(same_text(guess(case.public, field), accepted) for accepted in case.answers[field.name])
            for field in case.public.answer_fields
        ]
        for case in judged
    ]
    fields = [each for case in right for each in case]
    return Score(
        guesser=name,
        success=round(sum(map(all, right)) / len(right), 4),
        fields=round(sum(fields) / len(fields), 4),
    )


def _guessers(learnt_from: Sequence[Known]) -> dict[str, Guesser]:
    habits = _Habits(learnt_from)
    return {
        "most frequent answer": lambda public, field: habits.usual(public, field),
        "always no fault": lambda public, field: habits.quiet(public, field),
        "words of the brief": lambda public, field: habits.suggested(public, field),
        "named in the brief": _by_text(habits, lambda public: [public.title + "\n" + public.brief]),
        "first artifact": _by_text(habits, lambda public: [_text(public.artifacts[0])]),
        "longest segment": _by_text(habits, lambda public: [_longest_segment(public)]),
        "first change listed": _by_text(habits, _changes),
        "last change listed": _by_text(habits, _changes, last=True),
    }


class _Habits:
    """What answers look like and how often each is given, by family and field."""

    def __init__(self, cases: Iterable[Known]) -> None:
        self._usual: dict[tuple[str, str], Counter[str]] = {}
        self._quiet: dict[tuple[str, str], Counter[str]] = {}
        self._shapes: dict[tuple[str, str], set[str]] = {}
        self._words: dict[tuple[str, str], dict[str, Counter[str]]] = {}
        for case in cases:
            brief = set(terms.terms(f"{case.public.title} {case.public.brief}"))
            for name, accepted in case.answers.items():
                key, value = (case.public.family, name), accepted[0]
                self._usual.setdefault(key, Counter())[value] += 1
                self._shapes.setdefault(key, set()).add(_shape(value))
                self._words.setdefault(key, {}).setdefault(value, Counter()).update(brief)
                if case.no_fault:
                    self._quiet.setdefault(key, Counter())[value] += 1

    def usual(self, public: PublicScenario, field: AnswerField) -> str:
        """The answer given most often of those that can be given here."""
        return _most(self._usual.get((public.family, field.name), Counter()), field)

    def quiet(self, public: PublicScenario, field: AnswerField) -> str:
        return _most(self._quiet.get((public.family, field.name), Counter()), field)

    def suggested(self, public: PublicScenario, field: AnswerField) -> str:
        """Naive Bayes: the answer whose cases had briefs in these words."""
        key = (public.family, field.name)
        brief = set(terms.terms(f"{public.title} {public.brief}"))
        total = sum(self._usual.get(key, Counter()).values())

        def weight(value: str) -> float:
            seen, words = self._usual[key][value], self._words[key][value]
            return log(seen / total) + sum(log((words[word] + 0.5) / (seen + 1.0)) for word in sorted(brief))

        open_values = [
            value for value in self._usual.get(key, Counter()) if not field.choices or value in field.choices
        ]
        return max(sorted(open_values), key=weight, default="")

    def looks_right(self, public: PublicScenario, field: AnswerField, token: str) -> bool:
        """Has a token the form that answers to this field have?"""
        return _shape(token) in self._shapes.get((public.family, field.name), set())


def _by_text(habits: _Habits, texts: Callable[[PublicScenario], Iterable[str]], last: bool = False) -> Guesser:
    """Answers with what a text names first (or last): one of the choices, or a token of the right form."""

    def guess(public: PublicScenario, field: AnswerField) -> str:
        for text in texts(public):
            named = _choices_in(text, field) if field.choices else _tokens_in(text, public, field, habits)
            if named:
                return named[-1 if last else 0]
        return habits.usual(public, field)

    return guess


def _choices_in(text: str, field: AnswerField) -> list[str]:
    """The choices that a text names, in the order in which it does."""
    plain = text.casefold().replace("_", " ")
    places = {choice: plain.find(choice.casefold().replace("_", " ")) for choice in field.choices}
    return sorted((choice for choice in field.choices if places[choice] >= 0), key=lambda each: (places[each], each))


def _tokens_in(text: str, public: PublicScenario, field: AnswerField, habits: _Habits) -> list[str]:
    return [token for token in _TOKEN.findall(text) if habits.looks_right(public, field, token)]


def _most(counts: Counter[str], field: AnswerField) -> str:
    possible = {value: count for value, count in counts.items() if not field.choices or value in field.choices}
    return max(sorted(possible), key=lambda value: possible[value], default="")


def _shape(value: str) -> str:
    """`rel-6520` and `rel-7001` look alike, and so do two commit ids."""
    return "hex" if _HEXADECIMAL.fullmatch(value) and _DIGIT.search(value) else _DIGIT.sub("0", value)


def _longest_segment(public: PublicScenario) -> str:
    segments = [segment for artifact in public.artifacts for segment in artifact.segments]
    return max(segments, key=lambda segment: (len(segment.text), segment.segment_id)).text


def _changes(public: PublicScenario) -> list[str]:
    """Lists of changes: some have the newest first, some last."""
    return [_text(artifact) for artifact in public.artifacts if artifact.kind in _CHANGES]


def _text(artifact: Artifact) -> str:
    return "".join(segment.text for segment in artifact.segments)
