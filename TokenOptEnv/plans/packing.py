"""How to hand evidence over: by handle, quoted by a search, loaded, or squeezed.

A quote or an extract pays twice: evidence that would not fit does, and a short context keeps a cheap model right where
a long one would make it wrong. But what the answer must rest on has to be read whole by somebody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from TokenOptEnv.config import ROUTE_MAX_HANDLES, YARDSTICK
from TokenOptEnv.episode_state import ContextPiece
from TokenOptEnv.models import ActionType
from TokenOptEnv.plans.knowledge import Knowledge
from TokenOptEnv.plans.program import Drop, Load, Operation, Squeeze
from TokenOptEnv.plans.rates import Rates
from TokenOptEnv.simulators import terms, tokens
from TokenOptEnv.simulators.compression import methods
from TokenOptEnv.transitions.reading import SNIPPET_CAP_TOKENS
from TokenOptEnv.world import VisibleWorld

_RATIOS = (0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6)
_BATCH_SHARES = (0.5, 0.75)
"""A batch that is loaded to be squeezed takes at most such a share of memory."""
_MOST_WORDS = 8
_FIRST_METHOD = "extract"


@dataclass(frozen=True)
class Handover:
    """What to do with surfaced segments before asking, and what the model will then read."""

    surface: tuple[str, ...]
    glimpses: tuple[str, ...]
    """Texts that a search must have quoted."""
    operations: tuple[Operation, ...]
    context_ids: tuple[str, ...]
    pieces: tuple[ContextPiece, ...]
    rough_nano_usd: int
    """What it costs the policy, roughly; only the order in which things are tried depends on it."""


class Packer:
    def __init__(
        self, knowledge: Knowledge, visible: VisibleWorld, tools: Collection[ActionType], rates: Rates
    ) -> None:
        self._knowledge = knowledge
        self._memory_tokens = visible.limits.memory_tokens or 0
        self._most_handles = ROUTE_MAX_HANDLES[visible.config.profile]
        self._loads = ActionType.HYDRATE_SEGMENTS in tools
        self._squeezes = self._loads and ActionType.COMPRESS_CONTEXT in tools
        self._drops = ActionType.PURGE_MEMORY in tools
        self._rates = rates
        self._quotes = self._quotable() if ActionType.SEARCH_ARTIFACTS in tools else {}
        self._kept: dict[tuple[frozenset[str], frozenset[str]], list[Handover]] = {}
        self._squeezed: dict[tuple[str, ...], tuple[Squeeze, str] | None] = {}

    def handovers(self, shown: frozenset[str], read: frozenset[str]) -> list[Handover]:
        """Ways to show a model the facts of `shown`, and to have those of `read` read whole by it or by the policy."""
        key = (shown, read)
        if key not in self._kept:
            self._kept[key] = [*self._whole(shown | read), *self._quoted(shown, read), *self._loaded(shown, read)]
        return self._kept[key]

    def squeezed(self, shown: frozenset[str]) -> list[Handover]:
        """Loaded, and rewritten to as little as keeps the facts: all of it, or what goes beyond the handles."""
        names = self._knowledge.cover(sorted(shown))
        if not self._squeezes or not names:
            return []
        by_size = sorted(names, key=lambda name: (-self._knowledge.segments[name].tokens, name))
        found: list[Handover] = []
        for handles in dict.fromkeys((0, min(self._most_handles, len(names) - 1))):
            rest = tuple(name for name in names if name not in by_size[:handles])
            for batches in dict.fromkeys(self._batches(rest, share) for share in _BATCH_SHARES):
                found += self._squeezed_in(batches, tuple(by_size[:handles]), names)
        return found

    def _squeezed_in(
        self, batches: tuple[tuple[str, ...], ...], handed: tuple[str, ...], names: tuple[str, ...]
    ) -> list[Handover]:
        operations: list[Operation] = []
        pieces = [self._piece(name) for name in handed]
        rough = self._rates.lines(len(names))
        for batch in batches:
            squeezed = self._squeeze(batch)
            if squeezed is None:
                return []
            squeeze, text = squeezed
            operations += [Load(batch), squeeze]
            pieces.append(ContextPiece("+".join(batch), text, batch))
            rough += 2 * self._rates.step + self._rates.words(squeeze.query) + self._rates.read(self._tokens(batch))
            rough += self._rates.hold(tokens.count(YARDSTICK, text))
        return self._with_drop(Handover(names, (), tuple(operations), names, tuple(pieces), rough))

    def _whole(self, shown: frozenset[str]) -> list[Handover]:
        names = self._knowledge.cover(sorted(shown))
        pieces = tuple(self._piece(name) for name in names)
        rough = self._rates.lines(len(names))
        if len(names) <= self._most_handles:
            return [Handover(names, (), (), names, pieces, rough)]
        if not self._loads:
            return []
        by_size = sorted(names, key=lambda name: (self._knowledge.segments[name].tokens, name))
        load = Load(tuple(by_size[: len(names) - self._most_handles]))
        rough += self._rates.step + self._rates.hold(self._tokens(load.segment_ids))
        return self._with_drop(Handover(names, (), (load,), names, pieces, rough))

    def _quoted(self, shown: frozenset[str], read: frozenset[str]) -> list[Handover]:
        """What need not be read whole is quoted by the search that surfaces the rest."""
        quoted = {name for name in shown - read if name in self._quotes}
        whole = self._knowledge.cover(sorted((shown | read) - quoted))
        quoted -= {
            name for name in quoted if any(place.segment_id in whole for place in self._knowledge.facts[name].places)
        }
        if not quoted or len(whole) > self._most_handles:
            return []
        rough = self._rates.lines(len(whole) + len(quoted))
        pieces = (*(self._piece(name) for name in whole), self._quote_piece(quoted))
        return [Handover(whole, self._texts(quoted), (), whole, pieces, rough)]

    def _loaded(self, shown: frozenset[str], read: frozenset[str]) -> list[Handover]:
        """The policy reads what must be read, the model only quotes; pays where the model is dear."""
        if not read or not self._loads or not all(name in self._quotes for name in shown):
            return []
        names = self._knowledge.cover(sorted(read))
        load = Load(names)
        rough = self._rates.lines(len(names) + len(shown)) + self._rates.step + self._rates.hold(self._tokens(names))
        pieces = (self._quote_piece(shown),) if shown else ()
        return [Handover(names, self._texts(shown), (load,), (), pieces, rough)]

    def _with_drop(self, handover: Handover) -> list[Handover]:
        if not self._drops:
            return [handover]
        dropped = replace(
            handover,
            operations=(Drop(), *handover.operations),
            rough_nano_usd=handover.rough_nano_usd + self._rates.step,
        )
        return [handover, dropped]

    def _quotable(self) -> dict[str, tuple[str, str]]:
        """By fact: a text of it that a search result can show, and the line it would quote."""
        found: dict[str, tuple[str, str]] = {}
        for name, fact in self._knowledge.facts.items():
            for place in fact.places:
                for line in self._knowledge.segments[place.segment_id].text.split("\n"):
                    quote = tokens.clip(YARDSTICK, line.strip(), SNIPPET_CAP_TOKENS) if place.text in line else ""
                    if place.text in quote:
                        found.setdefault(name, (place.text, quote))
        return found

    def _texts(self, names: Collection[str]) -> tuple[str, ...]:
        return tuple(self._quotes[name][0] for name in sorted(names))

    def _quote_piece(self, names: Collection[str]) -> ContextPiece:
        lines = [f"10 A1 s1 300t {self._quotes[name][1]}" for name in sorted(names)]
        return ContextPiece("quotes", "\n".join(lines) + "\n", ())

    def _batches(self, names: Sequence[str], share: float) -> tuple[tuple[str, ...], ...]:
        most = int(self._memory_tokens * share)
        batches: list[tuple[str, ...]] = []
        batch: list[str] = []
        used = 0
        for name in names:
            size = self._knowledge.segments[name].tokens
            if batch and used + size > most:
                batches.append(tuple(batch))
                batch, used = [], 0
            batch.append(name)
            used += size
        return (*batches, tuple(batch)) if batch else tuple(batches)

    def _squeeze(self, batch: tuple[str, ...]) -> tuple[Squeeze, str] | None:
        """The smallest ratio at which every fact survives, tried on the text itself.

        Knowing what to look for, a query-focused extract beats the other methods; they come in where it loses a fact.
        """
        if batch not in self._squeezed:
            self._squeezed[batch] = self._first_squeeze(batch)
        return self._squeezed[batch]

    def _first_squeeze(self, batch: tuple[str, ...]) -> tuple[Squeeze, str] | None:
        text = "".join(self._knowledge.segments[name].text for name in batch)
        clues = [
            [place.text for place in fact.places if place.text in text]
            for fact in self._knowledge.facts.values()
            if any(place.segment_id in batch for place in fact.places)
        ]
        query = _query(clues, text)
        for name in sorted(methods(), key=lambda name: name != _FIRST_METHOD):
            for ratio in _RATIOS:
                squeezed = methods()[name].compress(text, ratio, query)
                if all(any(clue in squeezed for clue in each) for each in clues):
                    return Squeeze(batch, name, ratio, query), squeezed.rstrip("\n") + "\n"
        return None

    def _tokens(self, names: Sequence[str]) -> int:
        return sum(self._knowledge.segments[name].tokens for name in names)

    def _piece(self, name: str) -> ContextPiece:
        return ContextPiece(name, self._knowledge.segments[name].text, (name,))


def _query(clues: list[list[str]], text: str) -> str:
    """Of each fact the words that fewest lines hold, in turn until enough: they single its line out."""
    spread = Counter(word for line in text.split("\n") for word in terms.distinct(line))
    rarest = [
        sorted(terms.distinct(each[0]), key=lambda word: (spread[word], tokens.count(YARDSTICK, word), word))
        for each in clues
    ]
    words = dict.fromkeys(word for turn in zip_longest(*rarest) for word in turn if word is not None)
    return " ".join(list(words)[: max(_MOST_WORDS, len(clues))])
