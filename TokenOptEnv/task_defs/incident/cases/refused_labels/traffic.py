"""Tokens minted, kept, shown and refused: a small run, so that every log tells of the same tokens.

A caller holds one token for each service it calls and asks for the next through a balancer that takes the mint
hosts in turn. Nothing here says who is refused; a checker compares two times, and one clock is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from heapq import heappop, heappush

from TokenOptEnv.streams import Stream, word
from TokenOptEnv.task_defs.incident.cases.refused_labels import cast

_MINT_TIMEOUT_MS = 2_000
_WINDOW_MS = 5 * 60_000


@dataclass(frozen=True, slots=True)
class Holder:
    caller: str
    audience: str


@dataclass(frozen=True, slots=True)
class Token:
    token_id: str
    holder: Holder
    host: str
    key: str
    minted_ms: int
    took_ms: int

    @property
    def ends_ms(self) -> int:
        """As written into it, by the clock of the host that minted it."""
        return self.minted_ms - cast.behind_ms(self.host, self.minted_ms) + cast.LIFETIME_MS

    def sampled(self, one_in: int) -> bool:
        """Whether the logs tell of it at all: all of them choose alike, by the token."""
        return word("sample", self.token_id) % one_in == 0


@dataclass(frozen=True, slots=True)
class Use:
    token: Token
    at_ms: int

    @property
    def refused(self) -> bool:
        return self.at_ms > self.token.ends_ms + cast.LEEWAY_MS

    @property
    def past_s(self) -> int:
        return (self.at_ms - self.token.ends_ms) // 1000


@dataclass(frozen=True, slots=True)
class Missed:
    """A mint host that did not answer."""

    holder: Holder
    at_ms: int


@dataclass(frozen=True, slots=True)
class Traffic:
    tokens: tuple[Token, ...]
    uses: tuple[Use, ...]
    missed: tuple[Missed, ...]

    def uses_at(self, audience: str) -> list[Use]:
        return [use for use in self.uses if use.token.holder.audience == audience]

    def told_refusals(self, audience: str) -> list[Use]:
        """Those a checker writes out: the first of each five minutes; the others it only counts."""
        told: dict[int, Use] = {}
        for use in self.uses_at(audience):
            if use.refused:
                told.setdefault((use.at_ms - cast.OUT_OF_ROTATION.end_ms) // _WINDOW_MS, use)
        return list(told.values())


@cache
def traffic() -> Traffic:
    stream = Stream(cast.SCENARIO_ID, "traffic")
    holders = [Holder(caller, audience) for caller in cast.CALLERS for audience in cast.AUDIENCES]
    waiting: list[tuple[int, int]] = []
    for place in range(len(holders)):
        heappush(waiting, (cast.WINDOW.start_ms + stream.integer(0, cast.KEPT_MS), place))
    tokens: list[Token] = []
    uses: list[Use] = []
    missed: list[Missed] = []
    turn = 0
    while waiting and waiting[0][0] < cast.WINDOW.end_ms:
        at_ms, place = heappop(waiting)
        holder = holders[place]
        hosts = _in_rotation(at_ms)
        host = hosts[turn % len(hosts)]
        turn += 1
        if host == cast.LATE_MINT and cast.PAUSED_MS <= at_ms < cast.RESUMED_MS:
            missed.append(Missed(holder, at_ms + _MINT_TIMEOUT_MS))
            heappush(waiting, (at_ms + _MINT_TIMEOUT_MS + stream.integer(5, 60), place))
            continue
        token = Token(
            token_id=f"t-{stream.hex(8)}",
            holder=holder,
            host=host,
            key=cast.key_of(host, at_ms),
            minted_ms=at_ms,
            took_ms=stream.integer(3, 19),
        )
        tokens.append(token)
        shown = Use(token, at_ms + token.took_ms + stream.integer(12, 900))
        uses.append(shown)
        if shown.refused:
            heappush(waiting, (shown.at_ms + stream.integer(15, 120), place))
            continue
        kept_until_ms = at_ms + cast.KEPT_MS
        again_ms = shown.at_ms
        while (again_ms := again_ms + stream.integer(4_000, 21_000)) < kept_until_ms:
            uses.append(Use(token, again_ms))
        heappush(waiting, (kept_until_ms + stream.integer(0, 9_000), place))
    return Traffic(tuple(tokens), tuple(sorted(uses, key=lambda use: use.at_ms)), tuple(missed))


def _in_rotation(at_ms: int) -> tuple[str, ...]:
    out = cast.OUT_OF_ROTATION
    return cast.HEALTHY_MINTS if out.start_ms <= at_ms < out.end_ms else cast.MINTS
