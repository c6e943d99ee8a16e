"""A guise: the same case in other words, for policies that are to read a case and not to know it by heart.

Training material is finite: so many businesses, packages and ways to put a question. A small model learns their words
rather than what to do with words, and is lost where a case has others. Under a guise most words of a case are replaced,
each by the same one wherever it stands, so that a search that repeats the words of a question still finds what it
should; function words are strewn into questions, models get other names, and often the words that tell a question
about all of something from others are gone too. So is, often, what a search shows of its hits: the form of a line gives
away whether it is a log's or somebody's word, but only in formats that were seen before; the list of artifacts tells it
in any. What is said about it is put back before the engine hears it: bills, draws and scores are those of the case
itself. So models have quite other prices under a guise, and think more or less, only for who imitates: a tutor goes by
what it is shown, and training material has few models. Whoever is rewarded would learn that prices tell nothing, and is
shown some that are nearly right.

It acts on observations, so whoever plays, a tutor included, goes by what can be seen under the guise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

from tokenizers import Tokenizer

from TokenOptEnv.errors import BadInput
from TokenOptEnv.models import (
    ArtifactHandle,
    Finding,
    ItemKind,
    MemoryItem,
    ModelCard,
    SearchPayload,
    Subtask,
    TaskBrief,
    TokenOptEnvAction,
    TokenOptEnvObservation,
    ToolResult,
)
from TokenOptEnv.policies.symptoms import LOUD_WORDS
from TokenOptEnv.simulators import terms
from TokenOptEnv.streams import Stream, uniform, word

_SHARES = (0.0, 0.5, 1.0, 1.0)
"""Of words that are replaced; each as likely."""
_CUELESS_SHARE = 0.5
_STREWN_SHARES = (0.0, 0.1, 0.25)
"""Of gaps between the words of a question that a function word goes into."""
_BLURRED_SHARE = 0.5
"""Of cases in which hits show nothing that belongs to them."""
_BLUR_WORDS = 8
_RENAMED_SHARE = 0.85
"""Of cases in which models have other names."""
_REPRICED_SHARE = 0.7
"""Of cases in which models have other prices."""
_RETHINKS_SHARE = 0.3
"""Of models, to be imitated, that think as another of the same menu does."""


class _Factors(NamedTuple):
    """Between which a figure of a model is multiplied."""

    price: tuple[float, float]
    output: tuple[float, float]
    """Besides, on what it writes alone."""
    thought: tuple[float, float]


_TO_IMITATE = _Factors(price=(0.4, 2.5), output=(0.6, 1.6), thought=(0.3, 2.0))
_TO_BE_REWARDED = _Factors(price=(0.88, 1.14), output=(0.95, 1.05), thought=(0.88, 1.14))
_FRAME = (
    "Q cached old confidence cites nothing insufficient evidence hour hours day days none since which lasting failure"
)
"""What the environment itself says about findings, what a brief tells the time by, and how a cache is asked."""
_CUES = (
    "all each every over one side host going through nights results commit checkout checked out run runs night nightly"
)
"""What tells what kind of question it is."""
_KEPT = frozenset(f"{_FRAME} {LOUD_WORDS}".lower().split()) | terms.STOP_WORDS
_CUE_WORDS = frozenset(_CUES.split())
_STRAY_WORDS = tuple(sorted(terms.STOP_WORDS))
_LEAST_LETTERS = 3
_TRIES = 8
_FEWEST = 100
_TOKEN = re.compile(r"\{\w+\}|[A-Za-z0-9]+")
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_HIT = re.compile(r"^(\d+ A\d+ s\d+ \d+t )(.+)$", re.MULTILINE)
_GAP = re.compile(r"(?<=[a-z,]) (?=[a-z])")
_FAKE = re.compile(r"Ġ[a-z]{4,9}")
_Part = TypeVar("_Part")
_SIZES = ("", " 2", " 3.1", " 4", " mini", " 8B", " 70B", " Pro")


class Plain:
    """A case as it is."""

    def show(self, observation: TokenOptEnvObservation) -> TokenOptEnvObservation:
        return observation

    def mean(self, action: TokenOptEnvAction) -> TokenOptEnvAction:
        return action


class Guise(Plain):
    """Of one episode. A word's stand-in is chosen when it is first seen; what was not seen has none."""

    def __init__(self, words: Sequence[str], *key: str | int, is_imitated: bool = False) -> None:
        draw = Stream("guise", *key)
        self._words, self._key = words, key
        self._share = draw.choice(_SHARES)
        self._kept = _KEPT if draw.chance(_CUELESS_SHARE) else _KEPT | _CUE_WORDS
        self._strewn_share = draw.choice(_STREWN_SHARES)
        self._renames = draw.chance(_RENAMED_SHARE)
        self._blurs = draw.chance(_BLURRED_SHARE)
        self._reprices = draw.chance(_REPRICED_SHARE)
        self._is_imitated = is_imitated
        self._stand_ins: dict[str, str] = {}
        self._meant: dict[str, str] = {}
        self._shown: dict[str, str] = {}
        self._asked: dict[str, str] = {}
        self._blurred: dict[str, str] = {}
        self._worn: dict[int, tuple[object, object]] = {}
        """By its id a part of an observation, kept so that no other gets that id, and what is shown instead."""

    def show(self, observation: TokenOptEnvObservation) -> TokenOptEnvObservation:
        if not self._asked:
            self._kept |= set(_pieces(_told_apart_by(observation)))
        memory = observation.working_memory
        return observation.model_copy(
            update={
                "task": self._once(observation.task, self._task),
                "artifacts": self._once(observation.artifacts, self._artifacts),
                "models": self._once(observation.models, self._menu),
                "working_memory": memory.model_copy(
                    update={"items": tuple(self._once(item, self._item) for item in memory.items)}
                ),
                "findings": tuple(self._once(finding, self._finding) for finding in observation.findings),
                "last_tool_result": self._result(observation.last_tool_result),
            }
        )

    def mean(self, action: TokenOptEnvAction) -> TokenOptEnvAction:
        """In the case's own words; what stands for nothing stays as it is."""
        said = {"query": action.query, "note": action.note}
        return action.model_copy(update={name: self._back(text) for name, text in said.items() if text is not None})

    def _once(self, part: _Part, wear: Callable[[_Part], _Part]) -> _Part:
        """Most of an observation is the very one of the step before."""
        if id(part) not in self._worn:
            self._worn[id(part)] = part, wear(part)
        return cast(_Part, self._worn[id(part)][1])

    def text(self, text: str) -> str:
        shown = self._shown.get(text)
        if shown is None:
            shown = self._shown[text] = _TOKEN.sub(self._token, text)
        return shown

    def _token(self, match: re.Match[str]) -> str:
        """Ids and measures are no words, and a slot goes by its name."""
        token = match[0]
        return _PIECE.sub(self._piece, token) if token.isalpha() else token

    def _piece(self, match: re.Match[str]) -> str:
        piece = match[0]
        return _shaped(self._stand_in(piece.lower()), piece) if len(piece) >= _LEAST_LETTERS else piece

    def _stand_in(self, own: str) -> str:
        if own in self._kept:
            return own
        if own not in self._stand_ins:
            is_replaced = own in self._meant or uniform("replaced", *self._key, own) < self._share
            self._stand_ins[own] = self._chosen_for(own) if is_replaced else own
            self._meant[self._stand_ins[own]] = own
        return self._stand_ins[own]

    def _chosen_for(self, own: str) -> str:
        """Never one that stands for another word, or that was shown as it is; two in one where words run short."""
        chosen = ""
        for tries in count():
            other = self._words[word("stand-in", *self._key, own, tries) % len(self._words)]
            chosen = other if tries < _TRIES else chosen + other
            if chosen not in self._kept and chosen not in self._meant:
                break
        return chosen

    def _back(self, text: str) -> str:
        def piece(match: re.Match[str]) -> str:
            return _shaped(self._meant.get(match[0].lower(), match[0].lower()), match[0])

        return _TOKEN.sub(lambda match: _PIECE.sub(piece, match[0]) if match[0].isalpha() else match[0], text)

    def _task(self, task: TaskBrief) -> TaskBrief:
        texts = {name: self.text(getattr(task, name)) for name in ("title", "brief", "version")}
        return task.model_copy(update={**texts, "subtasks": tuple(map(self._subtask, task.subtasks))})

    def _subtask(self, subtask: Subtask) -> Subtask:
        if subtask.question not in self._asked:
            draw = Stream("strewn", *self._key, subtask.question)
            asked = self.text(subtask.question)
            self._asked[subtask.question] = _GAP.sub(
                lambda _: f" {draw.choice(_STRAY_WORDS)} " if draw.chance(self._strewn_share) else " ", asked
            )
        return subtask.model_copy(update={"question": self._asked[subtask.question]})

    def _artifacts(self, artifacts: tuple[ArtifactHandle, ...]) -> tuple[ArtifactHandle, ...]:
        return tuple(each.model_copy(update={"title": self.text(each.title)}) for each in artifacts)

    def _menu(self, menu: tuple[ModelCard, ...]) -> tuple[ModelCard, ...]:
        return tuple(self._changed(card, menu) for card in menu)

    def _changed(self, card: ModelCard, menu: Sequence[ModelCard]) -> ModelCard:
        changed: dict[str, object] = {}
        if self._renames:
            draw = Stream("renamed", *self._key, card.model_id)
            changed["name"] = draw.choice(self._words).capitalize() + draw.choice(_SIZES)
        if self._reprices:
            draw = Stream("repriced", *self._key, card.model_id)
            factors = _TO_IMITATE if self._is_imitated else _TO_BE_REWARDED
            factor = _between(factors.price, draw)
            written = factor * _between(factors.output, draw)
            thought = _between(factors.thought, draw)
            thinker = draw.choice(menu) if self._is_imitated and draw.chance(_RETHINKS_SHARE) else card
            changed["input_pico_usd"] = _rounded(factor * card.input_pico_usd)
            changed["output_pico_usd"] = _rounded(written * card.output_pico_usd)
            changed["reasoning_tokens"] = {
                effort: 10 * round(thought * tokens / 10) for effort, tokens in thinker.reasoning_tokens.items()
            }
        return card.model_copy(update=changed)

    def _item(self, item: MemoryItem) -> MemoryItem:
        if item.kind is ItemKind.SEARCH:
            return item.model_copy(update={"text": _HIT.sub(lambda hit: hit[1] + self._snippet(hit[2]), item.text)})
        return item.model_copy(update={"text": self.text(item.text)})

    def _snippet(self, snippet: str) -> str:
        """A blurred one is as long for every kind of artifact, and the same wherever it stands."""
        if not self._blurs:
            return self.text(snippet)
        if snippet not in self._blurred:
            draw = Stream("blurred", *self._key, snippet)
            self._blurred[snippet] = " ".join(draw.choice(self._words) for _ in range(_BLUR_WORDS))
        return self._blurred[snippet]

    def _finding(self, finding: Finding) -> Finding:
        values = {name: self.text(value) for name, value in finding.values.items()}
        version = None if finding.version is None else self.text(finding.version)
        return finding.model_copy(update={"values": values, "text": self.text(finding.text), "version": version})

    def _result(self, result: ToolResult | None) -> ToolResult | None:
        if result is None or not isinstance(result.payload, SearchPayload):
            return result
        found = result.payload
        hits = tuple(hit.model_copy(update={"snippet": self._snippet(hit.snippet)}) for hit in found.hits)
        return result.model_copy(
            update={"payload": found.model_copy(update={"query": self.text(found.query), "hits": hits})}
        )


def _told_apart_by(observation: TokenOptEnvObservation) -> Iterator[str]:
    """What stays as it is: the names of what is asked for."""
    yield from (name for each in observation.task.subtasks for name in each.fields)
    yield from (each.name for each in observation.task.answer_fields)


def _pieces(texts: Iterable[str]) -> list[str]:
    return [piece.lower() for text in texts for piece in _PIECE.findall(text)]


def _shaped(other: str, like: str) -> str:
    if like.isupper():
        return other.upper()
    return other.capitalize() if like[0].isupper() else other


def _between(bounds: tuple[float, float], draw: Stream) -> float:
    """Of factors: half and double are as likely."""
    low, high = bounds
    return float(low * (high / low) ** draw.random())


def _rounded(pico_usd: float) -> int:
    """To what a price list would say."""
    return int(float(f"{pico_usd:.2g}"))


def worn(number: int, scenario_id: str, seed: int, tokenizer: Path | None, is_imitated: bool = False) -> Plain:
    """The guise of this number, in the words of this vocabulary; 0 is none."""
    if not number or tokenizer is None:
        return Plain()
    return Guise(stand_ins(tokenizer), scenario_id, seed, number, is_imitated=is_imitated)


def demand_words(number: int, tokenizer: Path | None) -> None:
    """Here, before anything is forked, so that what is wrong is said once."""
    if number and tokenizer is None:
        raise BadInput(f"--guise {number} takes words from a vocabulary; name one with --tokenizer")
    if tokenizer is not None:
        stand_ins(tokenizer)


@lru_cache
def stand_ins(tokenizer: Path) -> tuple[str, ...]:
    """Words that a model's own vocabulary has, and none of its pieces of words: each is one token to copy."""
    if not tokenizer.is_file():
        raise BadInput(f"there is no tokenizer {str(tokenizer)!r}; name a model's tokenizer.json")
    known = Tokenizer.from_file(str(tokenizer)).get_vocab()
    words = tuple(token[1:] for token in sorted(known, key=known.__getitem__) if _FAKE.fullmatch(token))
    if len(words) < _FEWEST:
        raise BadInput(f"{str(tokenizer)!r} has {len(words)} whole words; a guise takes {_FEWEST}: name another")
    return words
