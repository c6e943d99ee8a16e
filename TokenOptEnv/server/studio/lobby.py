"""What a visitor finds before an episode begins: the cases, who can play, and the names of the rules in words."""

from __future__ import annotations

from typing import Final

from TokenOptEnv import policies, rewards, scenario_store
from TokenOptEnv.by_hand import wording
from TokenOptEnv.catalog import CATALOGS
from TokenOptEnv.config import DEFAULT_WORLDS
from TokenOptEnv.errors import BadInput
from TokenOptEnv.grading import TRUTH_MILESTONES
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.version import VERSION

_ABOUT: Final = {
    "core": "designed by hand",
    "train": "generated when asked for, without end",
    "validation": "generated once and shipped",
    "test": "held out: no truth and no plan is ever shown of it",
    scenario_store.IMPORTED: "made of evidence of your own",
}


class CaseRow(Frozen):
    """A line of the index without its hash, which covers the hidden half."""

    scenario_id: str
    family: str
    difficulty: str
    title: str
    artifact_tokens: int


class SplitPage(Frozen):
    split: str
    about: str
    size: int
    rows: tuple[CaseRow, ...] = ()
    by_index: bool = False
    """Too many to list: a case is chosen by its place."""
    absent: str | None = None
    """Why there is nothing to choose."""


class PolicyRow(Frozen):
    name: str
    describes: str
    knows_truth: bool


class TermRow(Frozen):
    term: str
    most: float
    means: str


class Words(Frozen):
    terms: tuple[TermRow, ...]
    guardrails: dict[str, str]
    penalties: dict[str, float]
    milestones: dict[str, str]
    truth_milestones: tuple[str, ...]
    ends: dict[str, str]


class Lobby(Frozen):
    version: str
    reveal: bool
    worlds: int
    splits: tuple[SplitPage, ...]
    policies: tuple[PolicyRow, ...]
    catalogs: tuple[str, ...]
    words: Words


def lobby(reveal: bool) -> Lobby:
    known = map(policies.info, policies.names())
    return Lobby(
        version=VERSION,
        reveal=reveal,
        worlds=DEFAULT_WORLDS,
        splits=tuple(map(_split, (*scenario_store.SPLITS, scenario_store.IMPORTED))),
        policies=tuple(
            PolicyRow(name=each.name, describes=each.describes, knows_truth=each.knows_truth)
            for each in known
            if reveal or not each.knows_truth
        ),
        catalogs=tuple(CATALOGS),
        words=Words(
            terms=tuple(TermRow(term=name, most=term.most, means=term.means) for name, term in wording.TERMS.items()),
            guardrails={guardrail.value: words for guardrail, words in wording.GUARDRAILS.items()},
            penalties={guardrail.value: share for guardrail, share in rewards.PENALTIES.items()},
            milestones=wording.MILESTONES,
            truth_milestones=tuple(TRUTH_MILESTONES),
            ends={reason.value: words for reason, words in wording.ENDED.items()},
        ),
    )


def _split(split: str) -> SplitPage:
    """What cannot be listed is told, with the command that makes it."""
    if split == "train":
        return SplitPage(split=split, about=_ABOUT[split], size=scenario_store.size(split), by_index=True)
    try:
        rows = scenario_store.rows(split)
    except BadInput as missing:
        return SplitPage(split=split, about=_ABOUT[split], size=0, absent=str(missing))
    told = tuple(CaseRow(**row.model_dump(include=set(CaseRow.model_fields))) for row in rows)
    return SplitPage(split=split, about=_ABOUT[split], size=len(told), rows=told)
