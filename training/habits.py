"""What a tutor does one way or another, since nothing it sees decides it: how much to look for, hand over and spend.

What works best on average differs from family to family (measured on training cases, `_USUAL`), and from case to case.
Traces of one way alone would make a student who never does anything else, and reinforcement can only find what is
tried. So traces are of tutors with several habits, each for a whole episode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from TokenOptEnv.streams import Stream


@dataclass(frozen=True, slots=True)
class Search:
    """For a question that one search may answer."""

    hits: int
    handed_over: int
    """Of them, at most."""


_ANY = Search(5, 4)
"""One more than can be handed over: talk goes last."""
_USUAL = {
    "bugfix": (Search(4, 4), Search(4, 4)),
    "ci": (Search(5, 4), Search(4, 4)),
    "incident": (Search(5, 4), Search(5, 3)),
}
"""By family: for the first question, and for those that build on it."""
_LEAST = 2
_LEFT_OUT = ((), (), (), (0,), (1,), (2,), (3,), (2, 3))


@dataclass(frozen=True, slots=True)
class Habits:
    more_hits: int = 0
    left_out: tuple[int, ...] = ()
    """Places in a ranking that are not handed over: of four segments mostly one or two are needed, and any may be."""
    caution: int = 2
    """In a choice of models, what an episode costs besides counts so many times: one wrong answer, and all of it was
    spent for nothing."""

    def search(self, family: str, is_first: bool) -> Search:
        usual = _USUAL[family][not is_first] if family in _USUAL else _ANY
        hits = max(_LEAST, usual.hits + self.more_hits)
        return Search(hits, min(hits, usual.handed_over))

    @property
    def search_again(self) -> Search:
        """After one that did not suffice."""
        return _ANY

    def handed_over(self, ranked: Sequence[str], most: int) -> list[str]:
        """The first where nothing else would be left."""
        some = [each for place, each in enumerate(ranked[:most]) if place not in self.left_out]
        return some or list(ranked[:1])


USUAL = Habits()


def drawn(draw: Stream) -> Habits:
    """Each of the usual ones more often than any other."""
    return Habits(
        more_hits=draw.choice((-1, 0, 0, 0, 1)),
        left_out=draw.choice(_LEFT_OUT),
        caution=draw.choice((1, 2, 2, 2, 3)),
    )
