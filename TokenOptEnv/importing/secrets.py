"""What must not leave the house: keys, tokens, passwords, e-mail and IP addresses become masks.

The same secret gets the same mask, so that a story told by an address can still be followed. Only what is kept is
looked at. The table below is all that is known: it is a help and no promise, and the report says what was found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final

from TokenOptEnv.errors import UnknownName


@dataclass(frozen=True, slots=True)
class SecretKind:
    name: str
    pattern: re.Pattern[str]
    """Its group `secret`, where it has one, is what is masked; else all of it."""


def _kind(name: str, *patterns: str) -> SecretKind:
    return SecretKind(name, re.compile("|".join(patterns)))


_OCTET: Final = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_GROUP: Final = r"[0-9A-Fa-f]{1,4}"

KINDS: Final = (
    _kind(
        "private-key",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{0,8000}?-----END [A-Z ]*PRIVATE KEY-----",
    ),
    _kind("jwt", r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,}"),
    _kind(
        "key",
        r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}\b",
        r"\bAIza[\w-]{35}",
        r"\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}",
        r"\bsk-(?:[a-z]+-)*[A-Za-z0-9_]{20,}",
    ),
    _kind(
        "token",
        r"\bgh[pousr]_[A-Za-z0-9]{20,}",
        r"\bgithub_pat_\w{20,}",
        r"\bglpat-[\w-]{16,}",
        r"\bxox[abeoprs]-[\w-]{10,}",
        r"\bhf_[A-Za-z0-9]{20,}",
        r"\bnpm_[A-Za-z0-9]{20,}",
        r"(?i:\b(?:bearer|basic)\s+(?P<secret>[\w.~+/=-]{12,}))",
    ),
    _kind(
        "password",
        r"(?i:\b[\w.-]*(?:password|passwd|pwd|secret|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token"
        r"|refresh[_-]?token|client[_-]?secret|session[_-]?id)[\"']?\s*[=:]\s*[\"']?(?P<secret>[^\s\"'&,;<>]{4,}))",
    ),
    _kind("credentials", r"(?<=://)(?P<secret>[^\s:/@]+:[^\s/@]+)(?=@)"),
    _kind("email", r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b"),
    _kind(
        "ip",
        rf"(?<![\w.-])(?!127\.|0\.0\.0\.0){_OCTET}(?:\.{_OCTET}){{3}}(?![\w-]|\.\d)",
        rf"(?<![\w:.])(?:{_GROUP}:){{7}}{_GROUP}(?![\w:])",
        rf"(?<![\w:.])(?={_GROUP}:[\w:]*::|{_GROUP}::)(?:{_GROUP}:){{1,6}}(?::{_GROUP}){{1,6}}(?![\w:])",
    ),
)
KIND_NAMES: Final = tuple(kind.name for kind in KINDS)


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    mask: str


@dataclass(frozen=True, slots=True)
class MaskedText:
    text: str
    _spans: tuple[_Span, ...]

    def quote(self, start: int, end: int) -> str:
        """What the characters from `start` to `end` of the original became; a mask is never cut."""
        return self.text[self._moved(start, False) : self._moved(end, True)]

    def _moved(self, at: int, is_end: bool) -> int:
        shift = 0
        for span in self._spans:
            if at < span.start or (at == span.start and is_end):
                break
            if at < span.end or (at == span.end and is_end):
                return span.start + shift + (len(span.mask) if is_end else 0)
            shift += len(span.mask) - (span.end - span.start)
        return at + shift


@dataclass
class Masker:
    """Numbers secrets as they come. `keep` names kinds that are left as they are."""

    keep: Collection[str] = ()
    _numbers: dict[str, dict[str, int]] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        for name in self.keep:
            if name not in KIND_NAMES:
                raise UnknownName("kind of secret", name, KIND_NAMES, "docs/import.md")

    @property
    def counts(self) -> dict[str, int]:
        """How often each kind was masked, in the order of the table; those never met are left out."""
        return {name: self._counts[name] for name in KIND_NAMES if self._counts[name]}

    def mask(self, text: str) -> MaskedText:
        spans = tuple(self._spans(text))
        parts, done = [], 0
        for span in spans:
            parts += [text[done : span.start], span.mask]
            done = span.end
        return MaskedText("".join([*parts, text[done:]]), spans)

    def _spans(self, text: str) -> Iterator[_Span]:
        """Where two kinds overlap, the one that is listed first has it."""
        taken: list[tuple[int, int, str]] = []
        for kind in KINDS:
            if kind.name in self.keep:
                continue
            taken += [(*_place(match), kind.name) for match in kind.pattern.finditer(text)]
        order = {name: number for number, name in enumerate(KIND_NAMES)}
        chosen: list[tuple[int, int, str]] = []
        for start, end, name in sorted(taken, key=lambda each: (each[0], order[each[2]], -each[1])):
            if chosen and start < chosen[-1][1]:
                if order[name] < order[chosen[-1][2]]:
                    chosen[-1] = (min(start, chosen[-1][0]), max(end, chosen[-1][1]), name)
                continue
            chosen.append((start, end, name))
        for start, end, name in chosen:
            self._counts[name] += 1
            numbers = self._numbers.setdefault(name, {})
            yield _Span(start, end, f"<{name}-{numbers.setdefault(text[start:end], len(numbers) + 1)}>")


def _place(match: re.Match[str]) -> tuple[int, int]:
    return match.span("secret") if match.groupdict().get("secret") is not None else match.span()
