"""The lines that a conclusion rests on, found where they stand."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from difflib import SequenceMatcher

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.task_defs.authoring import Quote
from TokenOptEnv.task_defs.bugfix.generator import jobs, refactor
from TokenOptEnv.task_defs.bugfix.generator.exhibits import Table
from TokenOptEnv.task_defs.bugfix.generator.past import Told
from TokenOptEnv.task_defs.bugfix.generator.plot import Plot
from TokenOptEnv.task_defs.bugfix.generator.report import symptom_line
from TokenOptEnv.task_defs.bugfix.generator.verified import Mutant
from TokenOptEnv.task_defs.bugfix.history import log_with_diffs


@dataclass(frozen=True)
class Clue:
    """A fact or a decoy, before it is known in which segment it stands."""

    clue_id: str
    why: str
    quotes: tuple[Quote, ...]


class Evidence:
    def __init__(self, plot: Plot, table: Table) -> None:
        self._plot = plot
        self._table = table
        self._slip = plot.bug.mutation
        self._code_id = table.code_id(self._slip.path)

    def symptom(self) -> Clue:
        return Clue("symptom", "what the red test got", (Quote(self._table.symptom_id, symptom_line(self._plot.test)),))

    def line(self) -> Clue:
        """The line in question as it stands now: wrong where there is a fault, right where there is none."""
        lines = self._slip.wrong if self._plot.faulty else self._slip.right
        why = "it does not do what is promised" if self._plot.faulty else "it does what is promised"
        text = unique_block(self._table.text(self._code_id), self._slip.line, len(lines))
        return Clue("line-now", why, (Quote(self._code_id, text),))

    def promise(self) -> Clue:
        return Clue("promise", "what the function says of itself", (Quote(self._code_id, self._promised()),))

    def promised_words(self) -> str:
        """The promise as words for a question: its first sentence."""
        said = self._promised().removeprefix('"""').removesuffix('"""').replace("`", "")
        return said.partition(". ")[0].rstrip(".?:")

    def red_test(self) -> Clue:
        name = self._plot.test.name.partition("[")[0]
        return Clue("red-test", "what the test asks for", (Quote(self._table.tests_id, f"def {name}("),))

    def last_green(self) -> Clue:
        green = self._table.last_green
        text = jobs.last_green_line(self._plot, green.night.number, green.head)
        return Clue("last-green", "what was in a green night is not it", (Quote(self._table.job_id, text),))

    def tested(self) -> Clue:
        run = self._table.runs[-1]
        text = jobs.head_line(self._plot, run.head)
        return Clue("tested", "the state that the red night ran", (Quote(self._table.job_id, text),))

    def origin(self) -> Clue:
        sha = self._table.past.culprit.commit.sha
        return Clue("origin", "the commit that slipped", (Quote(self._table.history_id, f"commit {sha}"),))

    def as_it_was(self) -> Clue:
        """The line before the slip, in the diff of the commit that slipped."""
        text = _closest(self._table.past.culprit, "-", self._slip.right[0])
        return Clue("as-it-was", "the line before the slip", (Quote(self._table.history_id, text),))

    def slip(self) -> Clue:
        """The line after the slip, in the same diff."""
        text = _closest(self._table.past.culprit, "+", self._slip.wrong[0])
        return Clue("slip", "the line after the slip", (Quote(self._table.history_id, text),))

    def touched_again(self) -> Clue:
        sha = self._table.past.touch.commit.sha
        return Clue(
            "touched-again", "the later commit to the same function", (Quote(self._table.history_id, f"commit {sha}"),)
        )

    def put_right(self) -> Clue:
        """Where nothing is at fault now: the later commit that took the slip out."""
        text = _closest(self._table.past.touch, "+", self._slip.right[0])
        return Clue("put-right", "the slip went after the red night", (Quote(self._table.history_id, text),))

    def night(self, place: int) -> Clue:
        run = self._table.runs[place]
        said = Quote(self._table.archive_id or "", jobs.watched_line(self._plot, run))
        return Clue(f"night-{run.night.number}", "how the watched test went that night", (said,))

    def under_suspicion(self, number: int) -> Clue:
        """A commit that touched a suspect, what was said about it, and the line itself."""
        mutant = self._plot.suspects[number]
        sha = self._table.past.suspect(number).commit.sha
        quotes = [Quote(self._table.history_id, f"commit {sha}"), *self._said(mutant), *self._line_of(mutant)]
        return Clue(f"suspect-{number + 1}", "tidied of late, and right as it is", tuple(quotes))

    def looks_guilty(self) -> Clue:
        """Where nothing is at fault now: what speaks against the function that was."""
        sha = self._table.past.culprit.commit.sha
        quotes = [Quote(self._table.history_id, f"commit {sha}"), *self._said(self._plot.bug)]
        return Clue("was-guilty", "it had slipped, and has been put right", tuple(quotes))

    def doubt(self) -> Clue:
        return Clue("doubt", "a doubt that is not borne out", (Quote(self._table.talk_id, self._table.talk.doubt),))

    def advice(self) -> Clue:
        return Clue("advice", "a change that repairs nothing", (Quote(self._table.talk_id, self._table.talk.advice),))

    def began(self) -> Clue:
        return Clue("began", "somebody's guess", (Quote(self._table.talk_id, self._table.talk.began),))

    def _said(self, mutant: Mutant) -> list[Quote]:
        said = self._table.talk.suspicions.get(mutant.mutant_id)
        return [Quote(self._table.talk_id, said)] if said else []

    def _line_of(self, mutant: Mutant) -> list[Quote]:
        """A suspect's line counts against it where it does not stand beside the line in question."""
        slip = mutant.mutation
        if slip.path == self._slip.path:
            return []
        code_id = self._table.code_id(slip.path)
        return [Quote(code_id, unique_block(self._table.text(code_id), slip.line, len(slip.right)))]

    def _promised(self) -> str:
        source = self._table.text(self._code_id)
        node = refactor.functions(source)[self._slip.function]
        if ast.get_docstring(node) is None:
            raise ScenarioInvalid(f"{self._slip.function} promises nothing")
        return source.split("\n")[node.body[0].lineno - 1].strip()


def unique_block(text: str, line: int, count: int) -> str:
    """Lines of a file, with as many above them as it takes to stand there once."""
    lines = text.split("\n")
    for above in range(6):
        block = "\n".join(lines[max(0, line - 1 - above) : line - 1 + count])
        if text.count(block) == 1:
            return block.strip() if text.count(block.strip()) == 1 else block
    raise ScenarioInvalid(f"line {line} stands in several places")


def _closest(told: Told, mark: str, wanted: str) -> str:
    """The line of a commit's diff that is most like the one wanted."""
    diff = log_with_diffs(told.after, (told.commit,)).split("\n")
    changed = [row for row in diff if row.startswith(mark) and not row.startswith(mark * 3)]
    if not changed:
        raise ScenarioInvalid(f"{told.commit.sha} has no {mark} line")
    return max(changed, key=lambda row: SequenceMatcher(None, row[1:].strip(), wanted.strip()).ratio())
