"""Wrong answers that tempt, and what speaks for each.

A question is only a question where something else could be true. Wrong answers come from the spec, from the choices
that are not right, and, for an answer that looks like an id, a time or a number, from others of the same look in the
evidence. What speaks for one is the line that says it, or failing that the line most like it, or a loud one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from TokenOptEnv.errors import BadInput
from TokenOptEnv.grading import same_text
from TokenOptEnv.scenario import Segment
from TokenOptEnv.simulators.log_lines import is_loud
from TokenOptEnv.simulators.retrieval import Retriever
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import Quote

LEAST_WRONG: Final = 2
_MOST_WRONG: Final = 5
_MOST_FOUND: Final = 3
_QUOTED_CHARACTERS: Final = 120
_RUN: Final = re.compile(r"[A-Za-z]*\d[A-Za-z0-9]*|[A-Za-z]+|[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    answer: str
    says: str
    decoys: tuple[str, ...]
    """Named in the spec; where none is, `shown_by` is what was found."""
    shown_by: Quote | None


@dataclass(frozen=True)
class Evidence:
    """Everything that can be read, by line."""

    segments: Sequence[tuple[str, Segment]]
    """With the id of their artifact."""
    fact_segments: Collection[str]

    @cached_property
    def lines(self) -> tuple[Quote, ...]:
        """Of segments that show no fact: a line beside the truth misleads nobody who reads it."""
        apart = [(name, segment) for name, segment in self.segments if segment.segment_id not in self.fact_segments]
        return tuple(
            Quote(name, line.strip())
            for name, segment in apart or self.segments
            for line in segment.text.split("\n")
            if len(line.strip()) > 3
        )

    @cached_property
    def retriever(self) -> Retriever:
        return Retriever([(str(number), quote.text) for number, quote in enumerate(self.lines)])

    @cached_property
    def loud(self) -> tuple[Quote, ...]:
        return tuple(quote for quote in self.lines if is_loud(quote.text))

    def speaks_for(self, answer: str, taken: Collection[Quote], draw: Stream) -> Quote | None:
        folded = answer.casefold()
        saying = (quote for quote in self.lines if folded in quote.text.casefold())
        alike = (self.lines[int(name)] for name in self.retriever.ranked(answer, 8))
        for pool in (saying, alike, draw.shuffled(self.loud), draw.shuffled(self.lines)):
            for quote in pool:
                clipped = Quote(quote.artifact_id, _around(quote.text, folded))
                if clipped not in taken:
                    return clipped
        return None

    def of_the_same_look(self, answer: str, right: Sequence[str]) -> Iterator[str]:
        """The most frequent first; nothing for an answer without a digit, whose look says nothing."""
        if not any(character.isdigit() for character in answer):
            return
        pattern = re.compile(rf"(?<![\w-]){''.join(_look(run) for run in _RUN.findall(answer))}(?![\w-])")
        found = Counter(value for quote in self.lines for value in pattern.findall(quote.text))
        for value, _ in found.most_common():
            if not any(same_text(value, each) for each in right):
                yield value


def wrong_answers(
    named: Sequence[tuple[str, str, tuple[str, ...]]],
    right: Sequence[str],
    evidence: Evidence,
    taken: Collection[Quote],
    draw: Stream,
    where: str,
) -> tuple[WrongAnswer, ...]:
    """`named`: answer, text and decoys of those that the spec gives. Fewer than two in the end are an error."""
    for answer, _, _ in named:
        if any(same_text(answer, each) for each in right):
            raise BadInput(f"{where}: the wrong answer {answer[:60]!r} is the right one too; name another")
    given = list({" ".join(each[0].split()).casefold(): each for each in reversed(named)}.values())[::-1][:_MOST_WRONG]
    if len(given) < LEAST_WRONG:
        for value in evidence.of_the_same_look(right[0], [*right, *(answer for answer, _, _ in given)]):
            if len(given) == _MOST_FOUND:
                break
            given.append((value, "", ()))
    if len(given) < LEAST_WRONG:
        raise BadInput(
            f"{where}: has {len(given)} wrong answers, and what is kept holds no others of the look of the right one;"
            " name two that somebody might believe: wrong = [...], or --wrong beside --ask"
        )
    made: list[WrongAnswer] = []
    used = set(taken)
    for answer, says, decoys in given:
        quote = None if decoys else evidence.speaks_for(answer, used, draw)
        if quote is not None:
            used.add(quote)
        made.append(WrongAnswer(answer, says, decoys, quote))
    return tuple(made)


def _around(line: str, folded: str) -> str:
    """A part of the line that shows the answer: short quotes survive compression, long ones are cut in two."""
    at = max(0, line.casefold().find(folded))
    start = min(max(0, at - _QUOTED_CHARACTERS // 3), max(0, len(line) - _QUOTED_CHARACTERS))
    return line[start : start + _QUOTED_CHARACTERS].strip()


def _look(run: str) -> str:
    """Digits stand for digits and mixed runs for mixed runs; words and signs for themselves."""
    if run.isdigit():
        return rf"\d{{{len(run)}}}"
    if any(character.isdigit() for character in run):
        return rf"[A-Za-z0-9]{{{len(run)}}}"
    return re.escape(run)
