"""The questions of a case: their slots, their wrong answers, and what each reply says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from TokenOptEnv.config import ROUTE_MAX_HANDLES, YARDSTICK, Profile
from TokenOptEnv.errors import BadInput
from TokenOptEnv.importing.earlier_results import Answered, add_earlier_results
from TokenOptEnv.importing.laid_out import LaidOut
from TokenOptEnv.importing.secrets import Masker
from TokenOptEnv.importing.spec import QuestionSpec
from TokenOptEnv.importing.spec_file import CaseFile
from TokenOptEnv.importing.wrong_answers import Evidence, WrongAnswer, wrong_answers
from TokenOptEnv.models import FieldKind, Slot
from TokenOptEnv.simulators import tokens
from TokenOptEnv.simulators.retrieval import Retriever
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply

_QUESTION_CAP_TOKENS: Final = 120
"""As for a brief: both stand in every prompt."""
_SAID_TOKENS: Final = 60
_BLANK: Final = re.compile(r"\{(\w+(?:-\w+)*)\}")


@dataclass
class Asking:
    """Adds questions to a case, one after the other: each may use the answers of those before it."""

    builder: CaseBuilder
    masker: Masker
    file: CaseFile
    laid: LaidOut
    found_decoys: dict[str, Quote] = field(default_factory=dict)
    """Those that were looked for because the spec named none."""
    hard_to_find: list[str] = field(default_factory=list)
    """Questions whose own words do not lead a search to their facts."""

    def add_all(self) -> None:
        answered = [self._add(place, question) for place, question in enumerate(self.file.spec.question)]
        add_earlier_results(self.builder, answered, self._draw)

    @cached_property
    def _draw(self) -> Stream:
        return Stream("import", self.builder.scenario_id)

    @cached_property
    def _evidence(self) -> Evidence:
        facts = [fact.id for fact in self.file.spec.fact]
        return Evidence(self.laid.segments, {name for fact in facts for name in self.laid.shown_in(fact)})

    @cached_property
    def _retriever(self) -> Retriever:
        return Retriever([(segment.segment_id, segment.text) for _, segment in self.laid.segments])

    def _add(self, place: int, question: QuestionSpec) -> Answered:
        name, answer_field = question.id or "", question.field or ""
        where = f"{self.file.where('question', place)}: question {name!r}"
        ask = self._asked(question, where)
        right = tuple(self._hide(answer) for answer in question.answer)
        choices = tuple(self._hide(choice) for choice in question.choices)
        wrong = self._wrong(question, right, choices, where)
        decoys = [self._decoys(name, number, each) for number, each in enumerate(wrong, start=1)]
        replies = [
            Reply({answer_field: each.answer}, each.says or self._said(ids), ids)
            for each, ids in zip(wrong, decoys, strict=True)
        ]
        right_reply = Reply({answer_field: right[0]}, self._hide(question.says) or self._said(question.needs))
        slot, slot_value = self._slot(question, place, where)
        offered = tuple(dict.fromkeys([*choices, *(each.answer for each in wrong)])) if choices else ()
        kind = FieldKind.CHOICE if choices else FieldKind.TEXT
        lexical = self._is_lexical(ask, question.needs)
        if not lexical:
            self.hard_to_find.append(name)
        self.builder.answer_field(answer_field, ask, kind, right, question.needs, offered)
        self.builder.subtask(
            name,
            ask,
            [answer_field],
            question.kind,
            lexical=lexical,
            needs=question.needs,
            right=right_reply,
            wrong=replies,
            slot=slot,
            slot_value=slot_value,
        )
        misled_by = decoys[0][0] if decoys[0] else question.needs[0]
        return Answered(name, ask, right_reply, self._place(question.needs[0]), replies[0], self._place(misled_by))

    def _hide(self, text: str) -> str:
        return self.masker.mask(text).text

    def _asked(self, question: QuestionSpec, where: str) -> str:
        ask = self._hide(" ".join(question.ask.split()))
        size = tokens.count(YARDSTICK, ask)
        if size > _QUESTION_CAP_TOKENS:
            raise BadInput(f"{where}: takes {size} tokens of {_QUESTION_CAP_TOKENS}; say less: it is in every prompt")
        return ask

    def _wrong(
        self, question: QuestionSpec, right: Sequence[str], choices: Sequence[str], where: str
    ) -> tuple[WrongAnswer, ...]:
        named = [(self._hide(each.answer), self._hide(each.says), each.decoys) for each in question.wrong]
        known = {*right, *(answer for answer, _, _ in named)}
        named += [(choice, "", ()) for choice in choices if choice not in known]
        taken = {quote for quotes in self.laid.places.values() for quote in quotes} | set(self.found_decoys.values())
        return wrong_answers(named, right, self._evidence, taken, self._draw, where)

    def _decoys(self, name: str, number: int, wrong: WrongAnswer) -> tuple[str, ...]:
        if wrong.shown_by is None:
            return wrong.decoys
        decoy_id = f"tempts-{name}-{number}"
        self.builder.decoy(decoy_id, "looks like it", wrong.shown_by)
        self.found_decoys[decoy_id] = wrong.shown_by
        return (decoy_id,)

    def _place(self, evidence_id: str) -> Quote:
        return self.found_decoys.get(evidence_id) or self.laid.places[evidence_id][0]

    def _said(self, evidence_ids: Sequence[str]) -> str:
        """Right and wrong replies sound alike: they tell what they rest on."""
        if not evidence_ids:
            return "Nothing stands against it."
        quote = self._place(evidence_ids[0])
        return tokens.clip(YARDSTICK, f"{quote.artifact_id} has: {' '.join(quote.text.split())}", _SAID_TOKENS)

    def _is_lexical(self, ask: str, needs: Sequence[str]) -> bool:
        """Do the question's own words lead to its facts? Asked of the real search."""
        near = frozenset(self._retriever.ranked(ask, max(ROUTE_MAX_HANDLES[Profile.V2], len(needs))))
        return all(not near.isdisjoint(self.laid.shown_in(name)) for name in needs)

    def _slot(self, question: QuestionSpec, place: int, where: str) -> tuple[Slot | None, str | None]:
        names = tuple(dict.fromkeys(_BLANK.findall(question.ask)))
        if not names:
            return None, None
        earlier = {each.field: each for each in self.file.spec.question[:place]}
        if len(names) > 1 or names[0] not in earlier:
            fields = ", ".join(f"{{{name}}}" for name in earlier) or "none"
            raise BadInput(
                f"{where}: a blank is filled by one earlier answer, of {fields}; not by {{{names[-1]}}}:"
                f" write it without braces if it is no blank"
            )
        source = earlier[names[0]]
        return Slot(name=names[0], from_subtask_id=source.id or ""), self._hide(source.answer[0])
