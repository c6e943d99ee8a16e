"""Drain: online mining of log templates with a fixed-depth tree (He, Zhu, Zheng, Lyu 2017).

A message descends by its number of tokens, then by its first tokens, to a leaf that holds a few groups, and joins the
most similar group if enough of its tokens are equal there. The depth is fixed, and with it the work per message: mining
is linear in the log. Tokens that hold variables descend as a wildcard, and so does every new token at a full node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from TokenOptEnv.simulators.log_lines import VARIABLE_MARK

WILDCARD = "<*>"
TOKEN_LEVELS = 2
"""The paper's depth 4: root, length, two tokens, leaf."""
SIMILARITY = 0.5
MAX_CHILDREN = 100


@dataclass(slots=True)
class Group:
    """Messages of one template. `template` holds a wildcard where its messages' tokens differ."""

    template: list[str]
    members: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Node:
    children: dict[str, _Node] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)


class Drain:
    def __init__(self) -> None:
        self._by_length: dict[int, _Node] = {}
        self.groups: list[Group] = []
        """In order of first appearance."""

    def add(self, member: int, tokens: Sequence[str]) -> None:
        """Sort message number `member` into its group; variables in `tokens` are masked already."""
        leaf = self._leaf(tokens)
        group = _most_similar(leaf.groups, tokens)
        if group is None:
            group = Group(list(tokens))
            leaf.groups.append(group)
            self.groups.append(group)
        else:
            pairs = zip(group.template, tokens, strict=True)
            group.template = [known if known == token else WILDCARD for known, token in pairs]
        group.members.append(member)

    def _leaf(self, tokens: Sequence[str]) -> _Node:
        node = self._by_length.setdefault(len(tokens), _Node())
        for token in tokens[:TOKEN_LEVELS]:
            known = token in node.children
            wild = VARIABLE_MARK in token or (not known and len(node.children) >= MAX_CHILDREN)
            node = node.children.setdefault(WILDCARD if wild else token, _Node())
        return node


def _most_similar(groups: Sequence[Group], tokens: Sequence[str]) -> Group | None:
    """The group with the most equal tokens, the oldest among equals, if they are at least half of all."""
    best, most = None, SIMILARITY * len(tokens)
    for group in groups:
        equal = sum(map(str.__eq__, group.template, tokens))
        if equal > most or (equal == most and best is None):
            best, most = group, equal
    return best
