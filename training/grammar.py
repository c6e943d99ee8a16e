"""The grammar of the short action form, over tokens: what may be said next.

Syntax alone: verbs, numbers, words, in the order that `text_actions` reads them. Which numbers mean anything is
left to the policy, and refusals stay what they are. The same mask is laid over the logits when an action is sampled
and when it is learnt from, so both speak of one distribution.

    expression -> automaton over bytes -> table of (state, token) -> state
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from TokenOptEnv.config import Profile
from TokenOptEnv.models import Effort
from TokenOptEnv.simulators.compression import methods

_DEAD = -1
_DIGITS = frozenset(b"0123456789")
_PRINTED = frozenset(range(32, 256)) - {127}
_START = 0


@dataclass(frozen=True, slots=True)
class Expression:
    """Of bytes: a set of them, a sequence, a choice, or some number of times."""

    kind: str
    parts: tuple[Expression, ...] = ()
    allowed: frozenset[int] = frozenset()


def _one_of(allowed: frozenset[int]) -> Expression:
    return Expression("set", allowed=allowed)


def _text(words: str) -> Expression:
    return _row(*(_one_of(frozenset([byte])) for byte in words.encode()))


def _row(*parts: Expression) -> Expression:
    return Expression("row", parts)


def _either(*parts: Expression) -> Expression:
    return Expression("either", parts)


def _maybe(*parts: Expression) -> Expression:
    return _either(_row(*parts), _row())


def _many(*parts: Expression) -> Expression:
    """Any number of times, none included."""
    return Expression("many", (_row(*parts),))


def _choice(words: Iterable[str]) -> Expression:
    return _either(*(_text(word) for word in words))


def action_expression(profile: Profile) -> Expression:
    digit, space = _one_of(_DIGITS), _text(" ")
    number = _row(digit, _maybe(digit), _maybe(digit))
    numbers = _row(number, _many(space, number))
    words = _row(_one_of(_PRINTED - frozenset(b" ")), _many(_one_of(_PRINTED)))
    effort = _maybe(space, _choice(each.value for each in Effort))
    ratio = _maybe(_text(" 0."), digit, _maybe(digit))
    core = [
        _row(_text("read "), number, _maybe(space, number)),
        _row(_text("cache "), words),
        _row(_text("squeeze "), numbers, space, _choice(methods()), ratio, _maybe(_text(": "), words)),
        _row(_text("ask "), number, space, number, _many(space, number), effort),
        _row(_text("submit "), numbers, _maybe(_text(" with "), numbers)),
    ]
    further = [
        _row(_text("find "), words),
        _row(_text("load "), _either(numbers, _row(number, _text("-"), number))),
        _row(_text("drop "), numbers),
        _row(_text("up "), number, _maybe(space, number), effort),
        _row(_text("note "), _maybe(numbers), _text(": "), words),
        _row(_text("recall "), number),
    ]
    return _either(*core) if profile is Profile.V1 else _either(*core, *further)


@dataclass(frozen=True, slots=True)
class Automaton:
    moves: NDArray[np.int16]
    """By state and byte: the next state, or -1."""
    accepting: NDArray[np.bool_]


class _Graph:
    """An automaton with free moves, from which the one without is made."""

    def __init__(self) -> None:
        self.free: list[list[int]] = []
        self.moves: list[list[tuple[frozenset[int], int]]] = []

    def node(self) -> int:
        self.free.append([])
        self.moves.append([])
        return len(self.free) - 1

    def lay(self, expression: Expression, start: int) -> int:
        """Lay an expression from `start`; its end."""
        match expression.kind:
            case "set":
                end = self.node()
                self.moves[start].append((expression.allowed, end))
                return end
            case "row":
                for part in expression.parts:
                    start = self.lay(part, start)
                return start
            case "either":
                end = self.node()
                for part in expression.parts:
                    self.free[self.lay(part, self._after(start))].append(end)
                return end
            case _:
                hub = self._after(start)
                self.free[self.lay(expression.parts[0], hub)].append(hub)
                return self._after(hub)

    def _after(self, start: int) -> int:
        node = self.node()
        self.free[start].append(node)
        return node

    def closure(self, nodes: Iterable[int]) -> frozenset[int]:
        seen: set[int] = set()
        left = list(nodes)
        while left:
            node = left.pop()
            if node not in seen:
                seen.add(node)
                left += self.free[node]
        return frozenset(seen)


def compile_automaton(expression: Expression) -> Automaton:
    graph = _Graph()
    start = graph.node()
    end = graph.lay(expression, start)
    first = graph.closure([start])
    numbers = {first: _START}
    order = [first]
    rows: list[NDArray[np.int16]] = []
    for nodes in order:
        row = np.full(256, _DEAD, dtype=np.int16)
        for byte in range(256):
            reached = [goal for node in nodes for allowed, goal in graph.moves[node] if byte in allowed]
            if reached:
                state = graph.closure(reached)
                if state not in numbers:
                    numbers[state] = len(order)
                    order.append(state)
                row[byte] = numbers[state]
        rows.append(row)
    return Automaton(np.stack(rows), np.asarray([end in nodes for nodes in order]))


class TokenGrammar:
    """The automaton read through a tokenizer, as one table on the device."""

    def __init__(self, automaton: Automaton, tokenizer: Tokenizer, eos_id: int, vocabulary: int) -> None:
        table = _token_table(automaton, [*token_bytes(tokenizer, vocabulary)])
        table[:, eos_id] = np.where(automaton.accepting, _START, _DEAD)
        self._table = table
        self._on_device: Tensor | None = None

    @classmethod
    def of_actions(cls, profile: Profile, tokenizer: Tokenizer, eos_id: int, vocabulary: int) -> TokenGrammar:
        return cls(compile_automaton(action_expression(profile)), tokenizer, eos_id, vocabulary)

    def masked(self, logits: Tensor, states: Tensor) -> Tensor:
        return logits.masked_fill(self._device_table(logits.device)[states] == _DEAD, float("-inf"))

    def next_states(self, states: Tensor, tokens: Tensor) -> Tensor:
        return self._device_table(tokens.device)[states, tokens].long().clamp(min=_START)

    def states(self, tokens: Sequence[int]) -> list[int] | None:
        """The state before each of these tokens; None where they neither are nor begin a sentence."""
        found = [_START]
        for token in tokens:
            state = int(self._table[found[-1], token])
            if state == _DEAD:
                return None
            found.append(state)
        return found[:-1]

    def _device_table(self, device: torch.device) -> Tensor:
        if self._on_device is None or self._on_device.device != device:
            self._on_device = torch.from_numpy(self._table).to(device)
        return self._on_device


def _token_table(automaton: Automaton, tokens: Sequence[bytes]) -> NDArray[np.int16]:
    """Every token walked from every state, byte by byte; most walks die at once and are not looked at again."""
    table = np.full((len(automaton.moves), len(tokens)), _DEAD, dtype=np.int16)
    sizes = np.asarray([len(token) for token in tokens])
    spelt = np.zeros((len(tokens), sizes.max()), dtype=np.uint8)
    for row, token in enumerate(tokens):
        spelt[row, : len(token)] = list(token)
    starts, walked = (each.ravel() for each in np.indices(table.shape, dtype=np.int32))
    kept = sizes[walked] > 0
    starts, walked = starts[kept], walked[kept]
    states = starts.astype(np.int16)
    for place in range(sizes.max()):
        states = automaton.moves[states, spelt[walked, place]]
        ended = (states != _DEAD) & (sizes[walked] == place + 1)
        table[starts[ended], walked[ended]] = states[ended]
        kept = (states != _DEAD) & ~ended
        starts, walked, states = starts[kept], walked[kept], states[kept]
    return table


def token_bytes(tokenizer: Tokenizer, vocabulary: int) -> Iterator[bytes]:
    """What each token spells; special tokens spell nothing."""
    letters = {letter: byte for byte, letter in _byte_letters().items()}
    special = set(tokenizer.get_added_tokens_decoder())
    for number in range(vocabulary):
        word = tokenizer.id_to_token(number)
        if word is None or number in special or any(letter not in letters for letter in word):
            yield b""
        else:
            yield bytes(letters[letter] for letter in word)


def _byte_letters() -> dict[int, str]:
    """The alphabet of byte-level vocabularies: printable bytes stand for themselves, others for letters from 256 on."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in plain]
    return {**{byte: chr(byte) for byte in plain}, **{byte: chr(256 + place) for place, byte in enumerate(others)}}
