"""How questions are put: in the words of the lines that answer them, or in words of their own.

The same templates serve every plot. One that names suspects names all of them, in drawn order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.generator.agenda import Item
from TokenOptEnv.task_defs.ci.generator.evidence import Ask
from TokenOptEnv.task_defs.ci.generator.repository import Repository
from TokenOptEnv.task_defs.ci.generator.runs import Runs

Asks = tuple[Ask, ...]

_LEXICAL: dict[Asks, tuple[str, ...]] = {
    (Ask.SYMPTOM,): (
        "Which test of the short test summary is FAILED in run {run}, if any came to be run?",
        "Run {run}, {stated}: which FAILED test of the short test summary counts, if any?",
        "{stated} of run {run}: which test is FAILED and counts, if any?",
    ),
    (Ask.NATURE,): (
        "{stated} of run {run}, attempt 2: FAILED, aborted or {good}, so which class?",
        "Which class, by the {stated} of run {run} attempt 2 and a job aborted or FAILED?",
    ),
    (Ask.ORIGIN,): (
        "Which commit, by diff and Author, if any: {suspects}?",
        "Whose diff is it, by commit and Author, if anybody's: {suspects}?",
    ),
    (Ask.ORIGIN, Ask.NATURE): (
        "Which class, and which commit, by diff and Author, if any: {suspects}?",
        "Whose diff is it, by commit and Author, if anybody's, and of which class: {suspects}?",
    ),
    (Ask.SYMPTOM, Ask.NATURE): (
        "{stated} of run {run}, attempt 2: FAILED, aborted or {good}, so which class, and which test, if any?",
        "Which class and which test, by the {stated} of run {run} and a job aborted or FAILED?",
    ),
    (Ask.ONSET,): (
        "Which run was the first with a {stated} of {bad} such as run {run} has?",
        "In which run does the {stated} say {bad} for the first time, as in run {run}?",
    ),
    (Ask.TESTED,): (
        "Which commit is in the {stated} of run {run} attempt 1?",
        "Of which commit is the {stated}, run {run} attempt 1?",
    ),
    (Ask.LAST_GOOD,): (
        "Which run at hand was the last whose {stated} says {good} for every gating job?",
        "Of the runs here, which has the last {stated} with {good} for all gating jobs?",
    ),
    (Ask.VERSION,): (
        "Which {library} did run {first} install, by requirements/test.lock?",
        "Installed in run {first}: which {library}?",
    ),
    (Ask.FILE,): (
        "Which file of the diff is it, by commit and Author, if any: {suspects}?",
        "In which file is the diff, if any: {suspects}?",
    ),
    (Ask.ONSET, Ask.SYMPTOM): (
        "Which run was first with a {stated} of {bad} as run {run} has, and which test is FAILED, if any?",
        "{stated} of {bad} as in run {run}: which run was first, and which test of the short test summary is FAILED?",
    ),
    (Ask.TESTED, Ask.SYMPTOM): (
        "Which commit is in the {stated} of run {run}, and which test of the short test summary is FAILED, if any?",
        "{stated}, run {run}, attempt 1: which commit, and which FAILED test, if any?",
    ),
}
_SURVEYS: dict[Asks, tuple[str, ...]] = {
    (Ask.ORIGIN,): (
        "Over the {stated} of all runs, {good} and {bad}: which commit, if any, turned it?",
        "Which commit, if any, lies where the {stated} of the runs turns from {good} to {bad}?",
    ),
    (Ask.ORIGIN, Ask.NATURE): (
        "Over the {stated} of all runs, {good} and {bad}: which class, and which commit, if any, turned it?",
        "Which class, and which commit, if any, where the {stated} of the runs turns from {good} to {bad}?",
    ),
}
"""Of a survey, which goes over many runs."""
_OBLIQUE: dict[Asks, tuple[str, ...]] = {
    (Ask.SYMPTOM,): (
        "What was always green and no longer is, if that is what keeps us here?",
        "The mail says red. What must pass before anybody goes home?",
    ),
    (Ask.NATURE,): (
        "Shaky hosts, a newer package, an edit nobody tried, chance, or old news?",
        "Who is to blame: we, our hosts, a package that moved, or nobody?",
    ),
    (Ask.ORIGIN,): (
        "What would you take back, if anything, to be sure?",
        "Somebody's edit, a revert, or nobody: whom do we trust least?",
    ),
    (Ask.ORIGIN, Ask.NATURE): (
        "What kind of trouble is it, and what would you take back, if anything, to be sure?",
        "Hosts, a package that moved, an edit or nobody: who is to blame, and what would you take back?",
    ),
    (Ask.SYMPTOM, Ask.NATURE): (
        "What was green and no longer is, and who is to blame: we, our hosts, a package, or nobody?",
        "What must pass before anybody goes home, and what kind of trouble keeps it from passing?",
    ),
    (Ask.ONSET,): ("Since when is it no longer green?", "When did the mail begin to say red for this?"),
    (Ask.TESTED,): (
        "What had been pushed when the mail went out?",
        "Whose state was it that went red: was it even ours?",
    ),
    (Ask.LAST_GOOD,): ("Until when was all well?", "Up to which point did everything that matters pass?"),
    (Ask.VERSION,): (
        "What did the oldest of these have of somebody else's package?",
        "Whose release was it at the beginning: which one of the pinned {library}?",
    ),
    (Ask.FILE,): ("Where would you take something back, if anywhere?", "Which place do we trust least, if any?"),
    (Ask.ONSET, Ask.SYMPTOM): ("Since when is it no longer green, and what must pass for that to end?",),
    (Ask.TESTED, Ask.SYMPTOM): ("What had been pushed when the mail said red, and what must pass now?",),
}
_HELD_OUT_OBLIQUE: dict[Asks, tuple[str, ...]] = {
    (Ask.SYMPTOM,): (
        "What does the wall screen show in red that is not as ever, if anything?",
        "What would have to come out fine before anybody stops looking?",
    ),
    (Ask.NATURE,): (
        "Machines, a new pin, flags, somebody's rework or old news: what do we blame?",
        "What is it that makes us nervous, and is it ours at all?",
    ),
    (Ask.ORIGIN,): (
        "On which rework would you put your money, if on any?",
        "What would be rolled back first, if anything?",
    ),
    (Ask.ORIGIN, Ask.NATURE): (
        "What do we blame, and on whom would you put your money, if on anybody?",
        "Machines, a new pin, flags or a rework: what is it, and what would be rolled back, if anything?",
    ),
    (Ask.SYMPTOM, Ask.NATURE): (
        "What on the wall screen is not as ever, if anything, and what do we blame for it?",
        "What would have to come out fine, and what is it that keeps it from doing so?",
    ),
    (Ask.ONSET,): ("Since when does the wall screen show it?", "When did this come out wrong for the first time?"),
    (Ask.TESTED,): ("Which line and state was the alarm about?", "What did the wall screen look at, old news or ours?"),
    (Ask.LAST_GOOD,): ("When did things last come out fine?", "Up to which point was nobody nervous?"),
    (Ask.VERSION,): ("Which pin of {library} did they start from?", "What had landed of {library} at the very first?"),
    (Ask.FILE,): ("Where would something be rolled back, if anywhere?", "In which place do flags or pins betray us?"),
    (Ask.ONSET, Ask.SYMPTOM): ("Since when does the wall screen show it, and what has to come out fine?",),
    (Ask.TESTED, Ask.SYMPTOM): ("Which line was the alarm about, and what has to come out fine there?",),
}
_SLOT = {
    Ask.ONSET: "First seen in {{{slot}}}. {rest}",
    Ask.TESTED: "About {{{slot}}}. {rest}",
    Ask.LAST_GOOD: "Good until run {{{slot}}}. {rest}",
}
_PARAPHRASES: dict[Ask, tuple[str, ...]] = {
    Ask.SYMPTOM: ("Which test holds the gate of {project} shut?", "What fails in the gate of {project}?"),
    Ask.NATURE: ("What class of failure does {project} have?", "What kind of trouble is the red run of {project}?"),
    Ask.ORIGIN: ("Which commit brought the failure into {project}?", "What should {project} revert?"),
    Ask.ONSET: ("Which run of {project} first showed the failure?", "Since which run is {project} in trouble?"),
    Ask.LAST_GOOD: ("Which run of {project} was the last good one?", "Until which run was {project} good?"),
    Ask.VERSION: ("Which release of its library did {project} begin with?", "What did {project} pin at first?"),
    Ask.FILE: ("Which file of {project} is at fault?", "In which file did {project} go wrong?"),
    Ask.TESTED: ("Which commit of {project} did the red run check out?", "What did the red run of {project} test?"),
}


@dataclass(frozen=True, slots=True)
class Wording:
    """Everything a template may need."""

    stated: str
    good: str
    bad: str
    run: int
    suspects: Sequence[str]
    project: str
    library: str
    first: int
    """The first run at hand."""
    is_held_out: bool


def wording(repository: Repository, runs: Runs, draw: Stream) -> Wording:
    stated, good, bad = repository.service.words
    path, function = repository.rewritten
    module = path.rpartition("/")[2].removesuffix(".py")
    suspects = (
        f"{module}.{function}",
        repository.library.name,
        repository.service.pipeline_path.rpartition("/")[2].removeprefix("."),
        repository.wobble.path.rpartition("/")[2].removesuffix(".py"),
    )
    return Wording(
        stated,
        good,
        bad,
        runs.red.number,
        tuple(draw.shuffled(suspects)),
        repository.project.name,
        repository.library.name,
        runs.chain[0].number,
        repository.is_held_out,
    )


def phrasings(item: Item, wording: Wording, slot: tuple[Ask, str] | None, draw: Stream) -> list[str]:
    """Ways to ask, in drawn order."""
    suspects = ", ".join(wording.suspects)
    oblique = _HELD_OUT_OBLIQUE if wording.is_held_out else _OBLIQUE
    templates = (_LEXICAL if item.lexical else oblique)[item.asks]
    if item.lexical and item.is_survey:
        templates = _SURVEYS.get(item.asks, templates)
    filled = [
        template.format(
            stated=wording.stated,
            good=wording.good,
            bad=wording.bad,
            run=wording.run,
            first=wording.first,
            library=wording.library,
            suspects=suspects,
        )
        for template in draw.shuffled(templates)
    ]
    if slot is None:
        return filled
    ask, name = slot
    return [_SLOT[ask].format(slot=name, rest=text) for text in filled]


def paraphrase(ask: Ask, wording: Wording, draw: Stream) -> str:
    """The question of an earlier result: near, and not the same."""
    return draw.choice(_PARAPHRASES[ask]).format(project=wording.project)
