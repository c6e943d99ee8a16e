"""What models may answer: the right reply and tempting wrong ones, all in one manner of speaking."""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import Reply
from TokenOptEnv.task_defs.bugfix.generator.evidence import Clue, Evidence
from TokenOptEnv.task_defs.bugfix.generator.exhibits import Table
from TokenOptEnv.task_defs.bugfix.generator.mutation import WRITTEN, Mutation, instead
from TokenOptEnv.task_defs.bugfix.generator.plot import Plot, Role
from TokenOptEnv.task_defs.bugfix.generator.verified import verified

NONE = "none"
LOCATE_FIELDS = ("file", "function")
REPAIR_FIELDS = ("line", "patch")

_BLAMES = {
    "boundary": "the edge is on the wrong side of the bound",
    "inverted": "a condition is asked the wrong way round",
    "connective": "two conditions are joined by the wrong word",
    "dropped_clause": "one of two conditions is missing",
    "arithmetic": "it computes with the wrong operator",
    "off_by_one": "it is off by one",
    "slice_edge": "the cut is one place off",
    "swapped_arguments": "two arguments have changed places",
    "wrong_default": "the default is another than it should be",
    "wrong_name": "it uses another variable than it means",
    "wrong_attribute": "it reads another attribute than it means",
    "missing_call": "a value is not tidied before it is used",
    "missing_key": "the order lacks its key or direction",
    "twin": "it takes the opposite function",
    "loop_control": "the loop stops or goes on at the wrong moment",
    "other_branch": "the two outcomes have changed places",
    "update": "a running value is updated wrongly",
    "constant": "a constant is one off",
    WRITTEN: "it does not do all that it says",
}


@dataclass(frozen=True)
class Theory:
    """One explanation of the red night, right or wrong, with all that it answers."""

    values: dict[str, str]
    blame: str
    clue: Clue | None
    """What suggests it; nothing for the right one and for those out of thin air."""

    def reply(self, fields: tuple[str, ...], text: str) -> Reply:
        return Reply(
            {name: self.values[name] for name in fields}, text, () if self.clue is None else (self.clue.clue_id,)
        )


class Theories:
    def __init__(self, plot: Plot, table: Table, evidence: Evidence, draw: Stream) -> None:
        self._plot = plot
        self._table = table
        self._evidence = evidence
        self.right = self._guilty(None) if plot.faulty else self._nothing(None)
        self.wrong = draw.shuffled(self._all_wrong(draw))

    def _all_wrong(self, draw: Stream) -> list[Theory]:
        evidence, plot = self._evidence, self._plot
        found = [self._suspected(number) for number in range(len(plot.suspects))]
        found.append(self._nothing(evidence.doubt()) if plot.faulty else self._guilty(evidence.looks_guilty()))
        if (advised := self._advised()) is not None:
            found.append(advised)
        return [*found, self._thin_air(draw)]

    def _guilty(self, clue: Clue | None) -> Theory:
        """The function of the slip. Where it has been put right, repairing it does harm again."""
        slip = self._plot.bug.mutation
        return Theory(self._values(slip, slip.repair() if self._plot.faulty else slip.harm()), _blame(slip), clue)

    def _nothing(self, clue: Clue | None) -> Theory:
        values = dict.fromkeys((*LOCATE_FIELDS, *REPAIR_FIELDS), NONE)
        return Theory(values, "the run was of an older state, and the code of today does what it says", clue)

    def _suspected(self, number: int) -> Theory:
        mutation = self._plot.suspects[number].mutation
        return Theory(self._values(mutation, mutation.harm()), _blame(mutation), self._evidence.under_suspicion(number))

    def _advised(self) -> Theory | None:
        """The right place and the wrong cure, where somebody advised one."""
        advised, slip = self._table.talk.advised.mutation, self._plot.bug.mutation
        if (advised.path, advised.line) != (slip.path, slip.line):
            return None
        patch = instead(slip, advised) if self._plot.faulty else advised.harm()
        return Theory(self._values(advised, patch), _blame(advised), self._evidence.advice())

    def _thin_air(self, draw: Stream) -> Theory:
        """A function that nobody suspects, and nothing speaks against."""
        known = {(m.mutation.path, m.mutation.function) for m in (self._plot.bug, *self._plot.suspects)}
        others = [verified(self._plot.package).mutant(mutant_id).mutation for mutant_id in self._plot.bug.stays]
        fresh = [m for m in others if (m.path, m.function) not in known and len(m.right) == len(m.wrong) == 1]
        mutation = draw.choice(fresh or [self._plot.suspects[0].mutation])
        return Theory(self._values(mutation, mutation.harm()), _blame(mutation), None)

    def _values(self, mutation: Mutation, patch: str) -> dict[str, str]:
        return {"file": mutation.path, "function": mutation.function, "line": str(mutation.line), "patch": patch}


@dataclass(frozen=True)
class Beginning:
    """A commit that the red streak is said to have begun with."""

    sha: str
    text: str
    clue: Clue | None

    def reply(self) -> Reply:
        return Reply({"commit": self.sha}, self.text, () if self.clue is None else (self.clue.clue_id,))


def beginnings(
    plot: Plot, table: Table, evidence: Evidence, survey: bool, draw: Stream
) -> tuple[Beginning, list[Beginning]]:
    """The commit that the streak began with, and those that it might be taken to have begun with."""
    past = table.past
    right = Beginning(past.culprit.commit.sha, _since(past.culprit.commit.sha), None)
    found: dict[str, Beginning] = {}

    def offer(sha: str, clue: Clue | None) -> None:
        if sha != right.sha and sha not in found:
            found[sha] = Beginning(sha, _since(sha), clue)

    if survey:
        flaky = [place for place, run in enumerate(table.runs) if run.night.red and place < plot.first_red]
        for place in flaky:
            offer(table.runs[place].head, evidence.night(place))
        offer(table.runs[-1].head, evidence.night(len(table.runs) - 1))
    for number in range(len(plot.suspects)):
        offer(past.suspect(number).commit.sha, evidence.under_suspicion(number))
    noise = [told.commit.sha for told in past.told if told.role is Role.NOISE and told.commit.sha not in found]
    if noise:
        sha = draw.choice(noise)
        found[sha] = Beginning(sha, _since(sha), None)
    return right, draw.shuffled(list(found.values()))[:5]


def last_runs(plot: Plot, table: Table, evidence: Evidence) -> tuple[Reply, list[tuple[Reply, Clue | None]]]:
    """The number of the last green night before the streak, and of nights that might be taken for it."""

    def said(place: int) -> Reply:
        number = str(table.runs[place].night.number)
        return Reply({"run": number}, f"{number} was the last good one before the streak that lasts.")

    first = plot.first_red
    wrong = [place for place in (first, first - 2, len(table.runs) - 1, first - 3) if place >= 0]
    return said(first - 1), [(said(place), evidence.night(place)) for place in wrong]


def followers(
    plot: Plot, table: Table, evidence: Evidence, draw: Stream
) -> tuple[Reply, list[tuple[Reply, Clue | None]]]:
    """The later commit to the same function, and others that came after or before."""

    def said(sha: str) -> Reply:
        return Reply({"later": sha}, f"{sha} is the next commit to the same place.")

    past = table.past
    noise = [told.commit.sha for told in past.told if told.role is Role.NOISE]
    suspects = [
        (said(past.suspect(number).commit.sha), evidence.under_suspicion(number))
        for number in range(len(plot.suspects))
    ]
    return said(past.touch.commit.sha), [*draw.shuffled(suspects), (said(draw.choice(noise)), None)]


def _since(sha: str) -> str:
    return f"{sha}: the test was green before it and stays red from there on."


def _blame(mutation: Mutation) -> str:
    """By the kind of slip alone: a reply that knew more than others would give itself away."""
    return _BLAMES[mutation.operator]


def located(theory: Theory) -> str:
    if theory.values["file"] == NONE:
        return f"Nothing is at fault: {theory.blame}."
    return f"{theory.values['function']}: {theory.blame}."


def repaired(theory: Theory) -> str:
    if theory.values["file"] == NONE:
        return f"No line needs a change: {theory.blame}."
    return f"Line {theory.values['line']} of {theory.values['function']}: {theory.blame}."
