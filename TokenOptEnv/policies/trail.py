"""The trail of an investigation: what searches have hit so far, and the names to follow from there.

A segment that several searches hit is likelier to matter than one that a single search hit better, so hits vote by
the reciprocal of their rank (reciprocal rank fusion). Names are followed because they lead from where a failure is
seen to where it is made, in words that no question knows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from TokenOptEnv.models import SearchHit, TokenOptEnvObservation
from TokenOptEnv.policies.symptoms import LOUD_WORDS
from TokenOptEnv.simulators import terms
from TokenOptEnv.simulators.log_lines import is_loud

_RANK_OFFSET = 4
"""How little the first place counts for more than the next ones."""
_ID = re.compile(r"(?<![\w-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,12}(?![\w-])")
_NUMBERED = re.compile(r"(?<![\w-])[a-z]{2,}-(?=[0-9a-f]*\d)[0-9a-f]{3,}(?![\w-])")
_ACCESS_LINE = re.compile(r'"(?:GET|POST|PUT|PATCH|DELETE|HEAD) ')
_DIGIT = re.compile(r"\d")
_LOG_FORM = """info warn warning error debug fatal level msg host req rid peer time utc get post http
jan feb mar apr may jun jul aug sep oct nov dec"""
_FORM_WORDS = frozenset(_LOG_FORM.split())
_FILLERS = "all any anything else exactly give given one say set taking together"
_FILLER_WORDS = frozenset(_FILLERS.split())
_SHORTEST_WORD = 3
_LOUD = frozenset(terms.distinct(LOUD_WORDS))


class Trail:
    def __init__(self) -> None:
        self._votes: Counter[str] = Counter()
        self._snippets: dict[str, str] = {}

    def note(self, hits: Sequence[SearchHit]) -> None:
        for rank, hit in enumerate(hits):
            self._votes[hit.segment_id] += 1_000 // (rank + _RANK_OFFSET)
            if hit.segment_id not in self._snippets or is_loud(hit.snippet):
                self._snippets[hit.segment_id] = hit.snippet

    def ranked(self) -> tuple[str, ...]:
        """Every segment hit, the most voted for first; equals by name."""
        return tuple(sorted(self._votes, key=lambda name: (-self._votes[name], name)))

    def snippet(self, segment_id: str) -> str:
        return self._snippets.get(segment_id, "")


def names_in(text: str) -> tuple[str, ...]:
    """Names that are worth a search of their own: ids of requests, commits, customers, changes."""
    return tuple(dict.fromkeys([*_ID.findall(text), *_NUMBERED.findall(text)]))


def complaints(text: str) -> tuple[str, ...]:
    """The lines that say that something is wrong; not those of a gateway, which never say what."""
    return tuple(line for line in text.split("\n") if is_loud(line) and not is_access_line(line))


def is_access_line(line: str) -> bool:
    """What a gateway writes of every request: that it failed, never why."""
    return _ACCESS_LINE.search(line) is not None


def words_in(lines: Iterable[str]) -> tuple[str, ...]:
    """What lines say, without their numbers, names and form."""
    return tuple(
        term
        for term in terms.distinct("\n".join(lines))
        if len(term) >= _SHORTEST_WORD and term not in _FORM_WORDS and not _DIGIT.search(term)
    )


def repeated(observation: TokenOptEnvObservation, lines: Sequence[str]) -> tuple[str, ...]:
    """What several lines say in the same words, beyond that something failed and in whose log: whom they call."""
    known = {*_LOUD, *terms.terms(" ".join(artifact.title for artifact in observation.artifacts))}
    counts = Counter(word for line in lines for word in words_in([line]))
    return tuple(word for word, count in counts.items() if count > 1 and word not in known)


def telling(observation: TokenOptEnvObservation, words: Iterable[str]) -> tuple[str, ...]:
    """Of these, what is not said in every case: neither words of failure nor of the brief, nor names of logs."""
    titles = [artifact.title for artifact in observation.artifacts]
    common = {*_LOUD, *terms.terms(" ".join([observation.task.title, observation.task.brief, *titles]))}
    return tuple(word for word in words if word not in common)


def lines_about(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """Lines that name one of these, each with the line under it, where a list explains its entries."""
    lines = text.split("\n")
    named = [number for number, line in enumerate(lines) if any(name in line for name in names)]
    return tuple(lines[place] for number in named for place in (number, number + 1) if place < len(lines))


def subject(observation: TokenOptEnvObservation, wording: str) -> tuple[str, ...]:
    """What a question is about beyond what every case of its kind asks for: the words that evidence may repeat."""
    asked = [f"{field.name} {field.question}" for field in observation.task.answer_fields]
    asked += [name for subtask in observation.task.subtasks for name in subtask.fields]
    form = {*terms.terms(" ".join(asked)), *_FILLER_WORDS}
    return tuple(term for term in terms.distinct(wording) if term not in form)
