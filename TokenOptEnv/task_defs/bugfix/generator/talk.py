"""What people say about a red night: suspicions, doubts, advice. Guilty and innocent are named alike."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.bugfix.generator.past import Past
from TokenOptEnv.task_defs.bugfix.generator.plot import Plot
from TokenOptEnv.task_defs.bugfix.generator.verified import Mutant, verified
from TokenOptEnv.task_defs.generation import Split

_NAMED = 2
"""How many of the functions under suspicion are spoken of, the guilty one among all alike."""


@dataclass(frozen=True)
class Talk:
    lines: tuple[str, ...]
    """What is said, in order, without who says it."""
    suspicions: dict[str, str]
    """By mutant: the line that names its function."""
    doubt: str
    advice: str
    advised: Mutant
    """The change that the advice amounts to."""
    began: str
    began_sha: str


def hold_talk(plot: Plot, past: Past, draw: Stream) -> Talk:
    voice = plot.voice
    shas = {plot.bug.mutant_id: past.culprit.commit.sha}
    shas |= {mutant.mutant_id: past.suspect(number).commit.sha for number, mutant in enumerate(plot.suspects)}
    named = draw.shuffled([plot.bug, *plot.suspects])[:_NAMED]
    ways = draw.shuffled(voice.suspicion)
    suspicions = {
        mutant.mutant_id: way.format(function=mutant.mutation.function, sha=shas[mutant.mutant_id])
        for mutant, way in zip(named, ways, strict=False)
    }
    advised = _advised(plot, draw)
    advice = draw.choice(voice.advice).format(code=advised.mutation.wrong[0].strip())
    began_sha = draw.choice(list(shas.values()))
    began = draw.choice(voice.began).format(sha=began_sha)
    doubt = draw.choice(voice.doubt)
    small = draw.shuffled(voice.small_talk)[: draw.integer(1, 3)]
    lines = draw.shuffled([*suspicions.values(), doubt, advice, began, *small])
    return Talk(tuple(lines), suspicions, doubt, advice, advised, began, began_sha)


def as_chat(plot: Plot, talk: Talk, draw: Stream) -> str:
    at = plot.red_night.at + timedelta(hours=6, minutes=draw.integer(5, 90))
    lines = [f"#{plot.package}-dev, {at:%A} {at.day} {at:%B}", ""]
    for said in talk.lines:
        name = draw.choice(plot.voice.people).split()[0].lower()
        is_test = plot.outline.split is Split.TEST
        lines.append(f"[{at:%H:%M}] <{name}> {said}" if is_test else f"{at:%H:%M} {name:<7} {said}")
        at += timedelta(minutes=draw.integer(1, 14))
    return "\n".join(lines) + "\n"


def as_comments(plot: Plot, talk: Talk, draw: Stream) -> str:
    names = [draw.choice(plot.voice.people).split()[0].lower() for _ in talk.lines]
    return "\n## Comments\n" + "".join(f"**{name}**: {said}\n" for name, said in zip(names, talk.lines, strict=True))


def ticket(plot: Plot, draw: Stream) -> str:
    return draw.choice(plot.voice.ticket).format(
        package=plot.package,
        nightly=plot.voice.nightly,
        Nightly=plot.voice.nightly.capitalize(),
        number=plot.red_night.number,
        version=plot.version,
        symptom=plot.symptom,
        reporter=draw.choice(plot.voice.people),
        module=plot.test.path,
    )


def _advised(plot: Plot, draw: Stream) -> Mutant:
    """Another slip in the guilty line if one is known, best one that only hidden tests notice; else one elsewhere."""
    slip = plot.bug.mutation
    same = [
        mutant
        for mutant in verified(plot.package).mutants
        if (mutant.mutation.path, mutant.mutation.line, mutant.mutation.right) == (slip.path, slip.line, slip.right)
        and mutant.mutation.wrong != slip.wrong
        and len(slip.right) == 1
    ]
    quiet = [mutant for mutant in same if not mutant.failing]
    return draw.choice(quiet or same or plot.suspects)
