"""Puts a case together: story, questions, answers and earlier results, checked before it is counted."""

from __future__ import annotations

from collections.abc import Sequence

from TokenOptEnv.config import YARDSTICK, Difficulty
from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.models import FieldKind, Slot
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.simulators import tokens
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import Reply
from TokenOptEnv.task_defs.ci.answers import (
    CULPRIT,
    FAILING_TEST,
    FAILURE_CLASS,
    FailureClass,
    ask_culprit,
    ask_failing_test,
    ask_failure_class,
)
from TokenOptEnv.task_defs.ci.generator import repository as repositories
from TokenOptEnv.task_defs.ci.generator.agenda import (
    CULPRIT_FILE,
    FIELDS,
    LAST_GOOD_RUN,
    LIBRARY_VERSION,
    Item,
    agenda,
    marathon_agenda,
)
from TokenOptEnv.task_defs.ci.generator.asked import Asked
from TokenOptEnv.task_defs.ci.generator.brief import brief, title
from TokenOptEnv.task_defs.ci.generator.earlier_results import keep_earlier_results
from TokenOptEnv.task_defs.ci.generator.evidence import Clue, Evidence, Proof
from TokenOptEnv.task_defs.ci.generator.exhibits import lay_out
from TokenOptEnv.task_defs.ci.generator.legs import LEG_STEPS, leg_briefs, legs
from TokenOptEnv.task_defs.ci.generator.plot import draw_plot, is_held_out
from TokenOptEnv.task_defs.ci.generator.replies import Answer, Respondent
from TokenOptEnv.task_defs.ci.generator.repository import Repository
from TokenOptEnv.task_defs.ci.generator.runs import Runs, expected_failure, hold
from TokenOptEnv.task_defs.ci.generator.sheet import Sheet
from TokenOptEnv.task_defs.ci.generator.wording import Wording, phrasings, wording
from TokenOptEnv.task_defs.generation import Outline

_CHAIN = {Difficulty.EASY: (2, 2), Difficulty.MEDIUM: (3, 4), Difficulty.HARD: (7, 9), Difficulty.MARATHON: (7, 9)}
_QUESTION_CAP_TOKENS = 40
_FINDING_CAP_TOKENS = 70
_SURVEY_HITS = 5
"""Of the eight that a search shows: a survey that is found by its words shows at least so many of its own."""
_OTHER_CHOICES = 3
_PROBES = 4
_FAR_SHARE = {Difficulty.EASY: 0.0, Difficulty.MEDIUM: 0.7, Difficulty.HARD: 1.0, Difficulty.MARATHON: 0.7}
_MORE_FIELDS = {
    LAST_GOOD_RUN: "Number of the last good run before it.",
    LIBRARY_VERSION: "Version of the pinned library at the beginning.",
    CULPRIT_FILE: "Path of the file at fault, or none.",
}
"""What longer cases ask besides."""


def write(outline: Outline, attempt: int) -> Scenario:
    is_marathon = outline.difficulty is Difficulty.MARATHON
    repository = repositories.build(outline, draw_plot(outline), is_held_out(outline), attempt)
    runs = _runs(outline, attempt, repository)
    notice = _noticed(repository, outline.stream(attempt, "notice"))
    exhibits = lay_out(outline, attempt, repository, runs, notice)
    evidence = Evidence(repository, runs, exhibits)
    respondent = Respondent(repository, runs, exhibits, evidence, notice)
    sheet = Sheet(
        scenario_id=outline.scenario_id,
        family=outline.family,
        difficulty=outline.difficulty,
        title=title(repository, outline.stream(attempt, "title")),
        brief=brief(repository, runs),
        version=f"main@{repository.head.sha}",
    )
    for exhibit in exhibits.exhibits:
        sheet.artifact(exhibit.artifact_id, exhibit.kind, exhibit.title, exhibit.text)
    low, high = outline.artifact_tokens
    if not low <= sheet.size_tokens <= high:
        raise ScenarioInvalid(f"{sheet.size_tokens} tokens of artifacts; {low} to {high} were asked for")
    _check_hunks(sheet, repository)
    items = (marathon_agenda if is_marathon else agenda)(outline, outline.stream(attempt, "agenda"))
    scopes = legs(exhibits, runs) if is_marathon else ((),)
    words = wording(repository, runs, outline.stream(attempt, "suspects"))
    asked = [
        _ask(
            outline,
            sheet,
            item,
            evidence,
            respondent,
            words,
            scopes[item.leg],
            outline.stream(attempt, "question", item.name),
        )
        for item in items
    ]
    _fields(sheet, repository, respondent, asked, outline.stream(attempt, "choices"))
    for each in asked:
        _subtask(sheet, each, items, respondent)
    keep_earlier_results(outline, sheet, repository, asked, words, outline.stream(attempt, "cache"))
    if is_marathon:
        for number, (text, steps) in enumerate(zip(leg_briefs(repository, runs), LEG_STEPS, strict=True)):
            names = [item.name for item in items if item.leg == number]
            sheet.phase(f"leg-{number + 1}", text, scopes[number], names, steps)
    return sheet.build()


def _runs(outline: Outline, attempt: int, repository: Repository) -> Runs:
    """A survey compares the reported run and as many others as make up its width."""
    draw = outline.stream(attempt, "chain")
    chain = draw.integer(*_CHAIN[outline.difficulty])
    is_marathon = outline.difficulty is Difficulty.MARATHON
    if outline.wide_facts:
        chain = max(chain, outline.wide_facts) if is_marathon else outline.wide_facts - 1
    brief_chain = outline.difficulty in (Difficulty.EASY, Difficulty.MEDIUM) or (
        outline.wide_facts is not None and not is_marathon
    )
    return hold(
        repository,
        outline.difficulty,
        chain,
        brief_chain,
        outline.stream(attempt, "runs"),
        probes=_PROBES if is_marathon else 0,
    )


def _noticed(repository: Repository, draw: Stream) -> str:
    """A test that the flake detector speaks of: never the one that fails."""
    tests = (repository.slip_test, repository.handbook_test, repository.wobble.test_id)
    return draw.choice([test for test in tests if test != expected_failure(repository)])


def _check_hunks(sheet: Sheet, repository: Repository) -> None:
    """A line of a patch is read with the name of its commit beside it, or it proves nothing."""
    for role, suspect in repository.suspects.items():
        ids = [name for name in sheet.segments_of("patches-main") if suspect.line in sheet.text(name)]
        if len(ids) != 1 or suspect.commit.sha not in sheet.text(ids[0]):
            raise ScenarioInvalid(f"the line of {role.value} does not stand once, beside its commit")


def _ask(
    outline: Outline,
    sheet: Sheet,
    item: Item,
    evidence: Evidence,
    respondent: Respondent,
    words: Wording,
    scope: tuple[str, ...],
    draw: Stream,
) -> Asked:
    """Put a question in the register that is wanted, and take those of its facts that go with the wording.

    How it is put does not depend on the plot; whether a search for it then shows its facts is measured.
    """
    proof = evidence.within(_proof(item, evidence), scope) if scope else _proof(item, evidence)
    least, most = (outline.wide_facts or 0,) * 2 if item.is_survey else outline.facts
    field = FIELDS[item.slot] if item.slot is not None else ""
    filled = {field: respondent.truths[field]} if field else {}
    wanted = draw.integer(least, most)
    options = phrasings(item, words, (item.slot, field) if item.slot else None, draw)
    text = next((text for text in options if tokens.count(YARDSTICK, text) <= _QUESTION_CAP_TOKENS), None)
    if text is None:
        raise ScenarioInvalid(f"{item.name} cannot be asked in {_QUESTION_CAP_TOKENS} tokens")
    found = sheet.found(text.format(**filled), scope)
    if not item.lexical and not item.is_survey:
        proof = Proof(proof.core, _far_first(sheet, proof.extra, sheet.found(f"run {words.run}", scope), outline, draw))
    needs = _needs(sheet, proof, least if item.lexical else wanted, (least, most), found if item.lexical else ())
    lexical = _is_lexical(item, [sheet.places(clue) for clue in needs], found)
    decisive = tuple(clue for clue in proof.core if clue in needs)[: 3 if item.is_survey else 2]
    replies = respondent.replies(
        item, needs, scope, lambda clue: any(place in found for place in sheet.places(clue)), draw
    )
    return Asked(item, text, lexical, needs, decisive, replies)


def _far_first(
    sheet: Sheet, clues: Sequence[Clue], near: Sequence[str], outline: Outline, draw: Stream
) -> tuple[Clue, ...]:
    """In drawn order; the harder the case, the surer what looking up the reported run shows comes last."""
    shuffled = draw.shuffled(clues)
    if draw.chance(_FAR_SHARE[outline.difficulty]):
        shuffled.sort(key=lambda clue: any(place in near for place in sheet.places(clue)))
    return tuple(shuffled)


def _proof(item: Item, evidence: Evidence) -> Proof:
    if item.is_survey:
        return evidence.survey(item.asks[0])
    return evidence.proof(item.asks[0]) if len(item.asks) == 1 else evidence.both(item.asks[0], item.asks[1])


def _needs(sheet: Sheet, proof: Proof, wanted: int, allowed: tuple[int, int], found: Sequence[str]) -> tuple[Clue, ...]:
    """The core, and of the rest as much as is wanted, what a search shows first; each in a segment of its own."""
    least, most = allowed
    needs: list[Clue] = []
    places: set[str] = set()
    for clue in proof.core:
        place = sheet.place(clue)
        if place in places or len(places) < most:
            places.add(place)
            needs.append(clue)
    rest = sorted(proof.extra, key=lambda clue: not any(place in found for place in sheet.places(clue)))
    for clue in rest:
        if len(places) >= wanted:
            break
        if sheet.place(clue) not in places:
            places.add(sheet.place(clue))
            needs.append(clue)
    if len(places) < least:
        raise ScenarioInvalid(f"facts in {len(places)} segments, not in {least} to {most}")
    return tuple(needs)


def _fields(sheet: Sheet, repository: Repository, respondent: Respondent, asked: Sequence[Asked], draw: Stream) -> None:
    paths = {field: sheet.prove(each.decisive) for each in asked for field in each.item.fields}
    truths = respondent.truths
    ask_culprit(sheet, truths[CULPRIT], paths[CULPRIT])
    ask_failing_test(sheet, truths[FAILING_TEST], _choices(repository, draw), paths[FAILING_TEST])
    ask_failure_class(sheet, FailureClass(truths[FAILURE_CLASS]), paths[FAILURE_CLASS])
    for field, question in _MORE_FIELDS.items():
        if field in paths:
            sheet.answer_field(field, question, FieldKind.TEXT, (truths[field],), paths[field])


def _choices(repository: Repository, draw: Stream) -> list[str]:
    """The tests that somebody suspects, and a few that nobody does, in the order of a listing."""
    suspected = [repository.slip_test, repository.handbook_test, repository.wobble.test_id, repository.preview_test]
    others = [test for test in repository.other_tests if test not in suspected]
    return sorted([*suspected, *draw.shuffled(others)[:_OTHER_CHOICES]])


def _subtask(sheet: Sheet, each: Asked, items: Sequence[Item], respondent: Respondent) -> None:
    item = each.item
    for answer in (each.replies.right, *each.replies.wrong):
        if tokens.count(YARDSTICK, answer.text) > _FINDING_CAP_TOKENS:
            raise ScenarioInvalid(f"{item.name}: an answer takes more than {_FINDING_CAP_TOKENS} tokens")
    sheet.subtask(
        item.name,
        each.question,
        item.fields,
        item.kind,
        lexical=each.lexical,
        needs=sheet.prove(each.needs),
        right=_reply(sheet, each.replies.right),
        wrong=[_reply(sheet, answer) for answer in each.replies.wrong],
        slot=_slot(item, items),
        slot_value=respondent.truths[FIELDS[item.slot]] if item.slot is not None else None,
    )


def _is_lexical(item: Item, places: Sequence[Sequence[str]], found: Sequence[str]) -> bool:
    """Asked in the words of its facts, which pointers complete; or, in other words, found by a search all the same."""
    if item.lexical and not item.is_survey:
        return True
    shown = [any(place in found for place in some) for some in places]
    return sum(shown) >= _SURVEY_HITS if item.is_survey else all(shown)


def _slot(item: Item, items: Sequence[Item]) -> Slot | None:
    if item.slot is None:
        return None
    source = next(each for each in items if item.slot in each.asks)
    return Slot(name=FIELDS[item.slot], from_subtask_id=source.name)


def _reply(sheet: Sheet, answer: Answer) -> Reply:
    return Reply(answer.values, answer.text, sheet.mislead(answer.clues))
