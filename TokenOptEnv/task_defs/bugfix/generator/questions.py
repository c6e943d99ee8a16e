"""Turns an agenda into questions: evidence within the outline's bounds, wording that was tried, replies, slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from TokenOptEnv.config import FINDING_CAP_TOKENS, YARDSTICK, Difficulty
from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.models import Slot
from TokenOptEnv.simulators import terms, tokens
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import Reply
from TokenOptEnv.task_defs.bugfix.generator import agenda as items
from TokenOptEnv.task_defs.bugfix.generator.agenda import COMMIT, Item
from TokenOptEnv.task_defs.bugfix.generator.asks import wordings
from TokenOptEnv.task_defs.bugfix.generator.evidence import Clue, Evidence
from TokenOptEnv.task_defs.bugfix.generator.exhibits import Table
from TokenOptEnv.task_defs.bugfix.generator.plot import Plot
from TokenOptEnv.task_defs.bugfix.generator.replies import Theories, beginnings, followers, last_runs, located, repaired
from TokenOptEnv.task_defs.bugfix.generator.report import symptom_line
from TokenOptEnv.task_defs.bugfix.generator.sheet import Sheet
from TokenOptEnv.task_defs.generation import Split

_QUESTION_CAP_TOKENS = 40
_ALIKE = (items.SURVEY, items.BEGIN, items.RUN)
"""Questions about nights, which are alike to a search."""
_SURVEY_HITS = 6
"""Of the eight hits for a survey that is found by its words, at least so many are its own."""
_TEMPTING = 2
_SYMPTOM_TOKENS = 12
_PROMISE_TOKENS = 14
_LEAST_HINTS, _MOST_HINTS = 3, 9


@dataclass(frozen=True)
class Asked:
    """A question as it was put."""

    item: Item
    needs: tuple[Clue, ...]
    decisive: tuple[Clue, ...]
    right: Reply
    wrong: tuple[Reply, ...]
    clues: dict[str, Clue]
    """The clues of wrong replies, by decoy id."""
    artifacts: tuple[str, ...]
    """Those of its phase; all of them where there are none."""


class Asker:
    def __init__(self, plot: Plot, table: Table, evidence: Evidence, sheet: Sheet, attempt: int) -> None:
        self._plot = plot
        self._table = table
        self._evidence = evidence
        self._sheet = sheet
        self._attempt = attempt
        self._theories = Theories(plot, table, evidence, self._draw("theories"))

    @property
    def theories(self) -> Theories:
        return self._theories

    def _draw(self, *purpose: str) -> Stream:
        return self._plot.outline.stream("ask", self._attempt, *purpose)

    def ask(self, item: Item, lexical: bool, artifacts: Sequence[str] = ()) -> Asked:
        needs, decisive = self._needs(item)
        segments = list(dict.fromkeys(self._sheet.places(clue)[0] for clue in needs))
        right, offered = self._replies(item)
        misleading = {place for _, clue in offered if clue is not None for place in self._sheet.places(clue)}
        question, found = self._worded(item, lexical, needs, segments, misleading, artifacts)
        clues: dict[str, Clue] = {}
        wrong: list[Reply] = []
        for reply, clue in offered:
            if reply.values == right.values or any(reply.values == other.values for other in wrong):
                continue
            decoys: tuple[str, ...] = ()
            if clue is not None:
                decoy_id = self._sheet.decoy(clue)
                clues[decoy_id] = clue
                decoys = (decoy_id,)
            wrong.append(Reply(reply.values, reply.text, decoys))
        if sum(bool(reply.decoys) for reply in wrong) < _TEMPTING:
            raise ScenarioInvalid(f"{item.name}: fewer than {_TEMPTING} tempting replies")
        for reply in (right, *wrong):
            _check_size(item, reply)
        slot = Slot(name=COMMIT, from_subtask_id=self._first) if item.needs_commit else None
        self._sheet.builder.subtask(
            item.name,
            question,
            item.fields,
            item.kind,
            found,
            [self._sheet.fact(clue) for clue in needs],
            right,
            wrong,
            slot=slot,
            slot_value=self._table.past.culprit.commit.sha if slot else None,
        )
        return Asked(item, needs, decisive, right, tuple(wrong), clues, tuple(artifacts))

    @property
    def _first(self) -> str:
        if self._plot.outline.wide_facts is not None:
            return items.SURVEY
        return items.BEGIN if self._plot.outline.difficulty is Difficulty.MARATHON else items.SINCE

    def _needs(self, item: Item) -> tuple[tuple[Clue, ...], tuple[Clue, ...]]:
        if item.name == items.SURVEY:
            return self._all_nights()
        required, optional = self._bearing(item)
        low, high = self._plot.outline.facts
        draw = self._draw("needs", item.name)
        wanted = max(draw.integer(low, high), draw.integer(low, high))
        if wanted == 1:
            required = required[:1]
        chosen = list(required)
        places = {self._sheet.places(clue)[0] for clue in chosen}
        if len(places) > high:
            raise ScenarioInvalid(f"{item.name}: needs {len(places)} segments of at most {high}")
        for clue in optional:
            place = self._sheet.places(clue)[0]
            if place in places or len(places) < wanted:
                chosen.append(clue)
                places.add(place)
        if len(places) < low:
            raise ScenarioInvalid(f"{item.name}: needs {len(places)} segments of at least {low}")
        return tuple(chosen), required

    def _bearing(self, item: Item) -> tuple[tuple[Clue, ...], tuple[Clue, ...]]:
        """What a question cannot do without, and what it may rest on besides, most telling first."""
        see = self._evidence
        if item.name == items.SINCE:
            return (see.origin(), see.last_green()), (see.as_it_was(), see.symptom(), see.tested())
        if item.name in (items.BEGIN, items.RUN):
            first = self._plot.first_red
            return (see.night(first - 1), see.night(first)), (see.night(first + 1),)
        if item.name == items.LATER:
            return (see.origin(), see.touched_again()), ()
        if self._plot.outline.difficulty is Difficulty.MARATHON:
            return self._bearing_by_phase(item)
        if not self._plot.faulty:
            if item.name == items.LINE:
                return (see.line(),), (see.promise(), see.put_right(), see.tested())
            return (see.line(), see.put_right()), (see.promise(), see.tested(), see.symptom())
        if item.name == items.LINE:
            return (see.line(),), (see.promise(), see.symptom(), see.red_test())
        if item.name == items.REPAIR:
            return (see.line(), see.as_it_was()), (see.promise(), see.red_test(), see.symptom())
        return (see.line(), see.symptom()), (see.promise(), see.red_test(), see.as_it_was())

    def _bearing_by_phase(self, item: Item) -> tuple[tuple[Clue, ...], tuple[Clue, ...]]:
        """The code lies in one phase and its history in another: each must do with its own."""
        see = self._evidence
        if item.name == items.REPAIR:
            last = see.touched_again() if self._plot.faulty else see.put_right()
            return (see.as_it_was(), last), (see.slip(), see.origin())
        if item.name == items.LINE:
            return (see.line(), see.red_test()), (see.promise(), see.symptom())
        return (see.line(), see.symptom()), (see.promise(), see.red_test())

    def _all_nights(self) -> tuple[tuple[Clue, ...], tuple[Clue, ...]]:
        nights = tuple(self._evidence.night(place) for place in range(len(self._table.runs)))
        places = [self._sheet.places(clue) for clue in nights]
        if len({place for found in places for place in found}) != len(nights):
            raise ScenarioInvalid("two nights share a segment")
        first = self._plot.first_red
        return nights, (nights[first - 1], nights[first])

    def _worded(
        self,
        item: Item,
        lexical: bool,
        needs: Sequence[Clue],
        segments: Sequence[str],
        misleading: set[str],
        artifacts: Sequence[str],
    ) -> tuple[str, bool]:
        """The first wording with the evidence's words under which a search shows it all, or one that pointers may
        complete; else one in other words, best one that brings up something misleading."""
        ways = wordings(self._plot.outline.split, item.name)
        draw = self._draw("wording", item.name)
        if lexical:
            *told, listed = ways.lexical
            for way in draw.shuffled(told):
                question = self._filled(item, way)
                if self._is_short(question) and self._is_found(item, question, segments, artifacts):
                    return question, True
            hinted = self._hinted(item, listed, needs, segments, artifacts)
            if hinted is not None:
                return hinted, True
            short = [way for way in told if self._is_short(self._filled(item, way))]
            if short and item.name not in _ALIKE:
                return self._filled(item, short[0]), True
        plain = [question for way in draw.shuffled(ways.plain) if self._is_short(question := self._filled(item, way))]
        plain.sort(key=lambda question: misleading.isdisjoint(self._sheet.hits(question, artifacts)))
        if plain:
            return plain[0], False
        raise ScenarioInvalid(f"{item.name}: no question is short enough")

    def _is_found(self, item: Item, question: str, segments: Sequence[str], artifacts: Sequence[str]) -> bool:
        """Nights are alike to a search, so it cannot put some of them above the others."""
        asked = question.replace("{commit}", "")
        if item.name == items.SURVEY:
            return sum(hit in segments for hit in self._sheet.hits(asked, artifacts)) >= _SURVEY_HITS
        if item.name in _ALIKE:
            return set(segments) <= set(self._sheet.hits(asked, artifacts))
        return self._sheet.shows_all(asked, segments, artifacts)

    def _hinted(
        self, item: Item, way: str, needs: Sequence[Clue], segments: Sequence[str], artifacts: Sequence[str]
    ) -> str | None:
        """Telling words of the evidence, one more at a time for what a search does not show yet."""
        pools = {self._sheet.places(clue)[0]: self._telling(clue) for clue in reversed(needs)}
        each = max(1, -(-_LEAST_HINTS // len(pools)))
        hints = dict.fromkeys(word for pool in pools.values() for word in pool[:each])
        for _ in range(_MOST_HINTS):
            question = self._filled(item, way, ", ".join(hints))
            if not self._is_short(question):
                return None
            if self._is_found(item, question, segments, artifacts):
                return question
            hits = self._sheet.hits(question.replace("{commit}", ""), artifacts)
            ranked = sorted(segments, key=lambda name: -(hits.index(name) if name in hits else len(hits)))
            word = next((word for name in ranked for word in pools.get(name, ()) if word not in hints), None)
            if word is None:
                return None
            hints[word] = None
        return None

    def _telling(self, clue: Clue) -> list[str]:
        """The rare words of a clue; never those that name a function or a commit, which are answers."""
        named = {word for m in (self._plot.bug, *self._plot.suspects) for word in terms.terms(m.mutation.function)}
        text = self._sheet.segment_text(clue)
        words = [*self._sheet.rare_words(clue.quotes[0].text, _MOST_HINTS), *self._sheet.rare_words(text, _MOST_HINTS)]
        return [word for word in dict.fromkeys(words) if word not in named]

    def _filled(self, item: Item, way: str, hints: str = "") -> str:
        plot = self._plot
        text = way.format(
            nightly=plot.voice.nightly,
            number=plot.red_night.number,
            test=plot.test.name.partition("[")[0],
            symptom=_few(symptom_line(plot.test).removeprefix("E ").replace("AssertionError:", ""), _SYMPTOM_TOKENS),
            promise=_few(self._evidence.promised_words(), _PROMISE_TOKENS),
            words=_few(plot.symptom, _PROMISE_TOKENS),
            hints=hints,
            commit="{commit}",
        )
        if item.needs_commit and "{commit}" not in text:
            lead = "Relative to {commit}: " if plot.outline.split is Split.TEST else "It began with {commit}. "
            text = lead + text
        return text

    def _is_short(self, question: str) -> bool:
        return tokens.count(YARDSTICK, question) <= _QUESTION_CAP_TOKENS

    def _replies(self, item: Item) -> tuple[Reply, list[tuple[Reply, Clue | None]]]:
        if item.name in (items.SURVEY, items.BEGIN, items.SINCE):
            right, wrong = beginnings(
                self._plot, self._table, self._evidence, item.name != items.SINCE, self._draw("replies", item.name)
            )
            return right.reply(), [(each.reply(), each.clue) for each in wrong]
        if item.name == items.RUN:
            return last_runs(self._plot, self._table, self._evidence)
        if item.name == items.LATER:
            return followers(self._plot, self._table, self._evidence, self._draw("replies", item.name))
        say = located if item.name == items.LOCATE else repaired
        theories = self._theories
        return (
            theories.right.reply(item.fields, say(theories.right)),
            [(theory.reply(item.fields, say(theory)), theory.clue) for theory in theories.wrong],
        )


def _few(text: str, most_tokens: int) -> str:
    """The first whole words within so many tokens; braces would be taken for blanks."""
    words = text.replace("{", "(").replace("}", ")").replace("'", "").split()
    while len(words) > 1 and tokens.count(YARDSTICK, " ".join(words)) > most_tokens:
        words.pop()
    return " ".join(words)


def _check_size(item: Item, reply: Reply) -> None:
    values = "; ".join(f"{name}={value}" for name, value in reply.values.items())
    if tokens.count(YARDSTICK, f"{values}\n{reply.text}") > FINDING_CAP_TOKENS:
        raise ScenarioInvalid(f"{item.name}: a reply is longer than a finding may be")
