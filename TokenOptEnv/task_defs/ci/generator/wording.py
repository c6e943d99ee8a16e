"""How questions are put: in the words of the lines that answer them, or in words of their own.

The same templates serve every plot. One that names suspects names all of them, in drawn order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.generator.evidence import Ask
from TokenOptEnv.task_defs.ci.generator.repository import Repository
from TokenOptEnv.task_defs.ci.generator.runs import Runs

Asks = tuple[Ask, ...]

_LEXICAL: dict[Asks, tuple[str, ...]] = {
    (Ask.SYMPTOM,): (
        "Which test in the short test summary is FAILED in a gating job of run {run}, if any?",
        "Run {run}, {stated}: which FAILED test of the short test summary counts, if any?",
    ),
    (Ask.NATURE,): (
        "{stated} of run {run} attempt 2: {suspects}, or nothing?",
        "What was it: {suspects}, or nothing? See {stated}, run {run} attempt 2.",
    ),
    (Ask.ORIGIN,): (
        "Which commit, if any: {suspects}? See {stated}, run {run}.",
        "{stated}, run {run}: which commit, if any, of {suspects}?",
    ),
    (Ask.ORIGIN, Ask.NATURE): (
        "Which commit, if any: {suspects}? See {stated}, run {run} attempt 2.",
        "{stated}, run {run} attempt 2: which commit, if any, of {suspects}?",
    ),
    (Ask.SYMPTOM, Ask.NATURE): (
        "Which FAILED test, if any: {suspects}? See {stated}, run {run} attempt 2.",
        "{stated}, run {run} attempt 2: which FAILED test, if any, of {suspects}?",
    ),
    (Ask.ONSET,): (
        "Which run was the first with a {stated} of {bad} such as run {run} has?",
        "In which run does the {stated} say {bad} for the first time, as in run {run}?",
    ),
    (Ask.TESTED,): (
        "Which commit is in the {stated} of run {run} attempt 1?",
        "Of which commit is the {stated}, run {run} attempt 1?",
    ),
    (Ask.ONSET, Ask.SYMPTOM): (
        "Which run was first with a {stated} of {bad} as run {run} attempt 1 has, and which test is FAILED, if any?",
    ),
    (Ask.TESTED, Ask.SYMPTOM): (
        "Which commit is in the {stated} of run {run} attempt 1, and which test is FAILED in a gating job, if any?",
    ),
}
_OBLIQUE: dict[Asks, tuple[str, ...]] = {
    (Ask.SYMPTOM,): (
        "What would have to pass before the next merge may go in?",
        "What, if anything, is it that really holds everybody up?",
    ),
    (Ask.NATURE,): (
        "Whose fault is it: ours, somebody's package, the set-up, chance, or nobody's?",
        "What kind of trouble are we looking at, by our own definitions?",
    ),
    (Ask.ORIGIN,): (
        "What should be reverted, if anything?",
        "Who brought the trouble in, if anybody did?",
    ),
    (Ask.ORIGIN, Ask.NATURE): (
        "What kind of trouble is it, and what should be reverted, if anything?",
        "Whose change is to blame, if anybody's, and for what kind of trouble?",
    ),
    (Ask.SYMPTOM, Ask.NATURE): (
        "What, if anything, holds everybody up, and what kind of trouble is that?",
        "What would have to pass before the next merge, and whose fault is it that it does not?",
    ),
    (Ask.ONSET,): ("Since when have we had this?", "When did the trouble that was reported begin?"),
    (Ask.TESTED,): (
        "What exactly was being looked at when the alarm was raised?",
        "Which state of the code was the alarm about?",
    ),
    (Ask.ONSET, Ask.SYMPTOM): ("Since when have we had this, and what would have to pass for it to end?",),
    (Ask.TESTED, Ask.SYMPTOM): ("Which state of the code was the alarm about, and what in it really holds us up?",),
}
_SLOT = {
    Ask.ONSET: "Run {{{slot}}} showed it first. {rest}",
    Ask.TESTED: "The alarm was about {{{slot}}}. {rest}",
}
_PARAPHRASES: dict[Ask, tuple[str, ...]] = {
    Ask.SYMPTOM: ("Which test holds the gate of {project} shut?", "What fails in the gate of {project}?"),
    Ask.NATURE: ("What class of failure does {project} have?", "What kind of trouble is the red run of {project}?"),
    Ask.ORIGIN: ("Which commit brought the failure into {project}?", "What should {project} revert?"),
    Ask.ONSET: ("Which run of {project} first showed the failure?", "Since which run is {project} in trouble?"),
    Ask.TESTED: ("Which commit of {project} did the red run check out?", "What did the red run of {project} test?"),
}


@dataclass(frozen=True, slots=True)
class Wording:
    """Everything a template may need."""

    stated: str
    bad: str
    run: int
    suspects: Sequence[str]
    project: str


def wording(repository: Repository, runs: Runs, draw: Stream) -> Wording:
    stated, _, bad = repository.service.words
    module = repository.slip.path.rpartition("/")[2].removesuffix(".py")
    suspects = (
        f"{module}.{repository.slip.function}",
        repository.library.name,
        repository.service.pipeline_path.rpartition("/")[2].removeprefix("."),
        repository.wobble.path.rpartition("/")[2].removesuffix(".py"),
    )
    return Wording(stated, bad, runs.red.number, tuple(draw.shuffled(suspects)), repository.project.name)


def phrasings(asks: Asks, wording: Wording, lexical: bool, slot: tuple[Ask, str] | None, draw: Stream) -> list[str]:
    """Ways to ask, in drawn order."""
    suspects = ", ".join(wording.suspects)
    filled = [
        template.format(stated=wording.stated, bad=wording.bad, run=wording.run, suspects=suspects)
        for template in draw.shuffled((_LEXICAL if lexical else _OBLIQUE)[asks])
    ]
    if slot is None:
        return filled
    ask, name = slot
    return [_SLOT[ask].format(slot=name, rest=text) for text in filled]


def paraphrase(ask: Ask, wording: Wording, draw: Stream) -> str:
    """The question of an earlier result: near, and not the same."""
    return draw.choice(_PARAPHRASES[ask]).format(project=wording.project)
