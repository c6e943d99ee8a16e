"""A question as it was put, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.task_defs.ci.generator.agenda import Item
from TokenOptEnv.task_defs.ci.generator.evidence import Clue
from TokenOptEnv.task_defs.ci.generator.replies import Replies


@dataclass(frozen=True)
class Asked:
    item: Item
    question: str
    lexical: bool
    """Measured: does a search for it show what it needs?"""
    needs: tuple[Clue, ...]
    decisive: tuple[Clue, ...]
    replies: Replies
