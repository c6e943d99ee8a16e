"""The fewest tokens that what must be written and shown can take: findings, actions, the frame of every prompt."""

from __future__ import annotations

from collections.abc import Mapping

from TokenOptEnv.config import (
    CACHE_MAX_HITS,
    CHECKPOINT_CAP_TOKENS,
    FINDING_CAP_TOKENS,
    PREVIEW_PAGE_SEGMENTS,
    SEARCH_MAX_TOP_K,
    YARDSTICK,
)
from TokenOptEnv.findings import finding_text
from TokenOptEnv.models import (
    ActionType,
    Budget,
    Budgets,
    Effort,
    Finding,
    ItemKind,
    ModelCard,
    RefusedPayload,
    ToolResult,
    WorkingMemory,
)
from TokenOptEnv.prompt import item_header, tail_text
from TokenOptEnv.scenario import CacheEntry, Candidate, Scenario
from TokenOptEnv.simulators import tokens
from TokenOptEnv.transitions.reading import SNIPPET_CAP_TOKENS, TITLE_CAP_TOKENS
from TokenOptEnv.world import VisibleWorld, model_tokens, text_tokens

LEAST_ACTION_TOKENS = 2
_CUT_TOKENS = 6
_LONGER_NUMBER_TOKENS = 3
"""What a cited number or a confidence may take more than the shortest."""
_UNEVENNESS = 1.3
"""Two vocabularies can differ by so much more on one line than on a whole segment."""


def answer_texts(candidate: Candidate, subtask_id: str, visible: VisibleWorld, most_cites: int) -> list[str]:
    """How a finding can read, by the number of segments it cites: the cap cuts prose, so more may be shorter."""
    return [
        _text(
            Finding(
                finding_id="finding-1",
                source="route",
                subtask_id=subtask_id,
                values=candidate.values,
                text=candidate.text,
                confidence=0.5,
                cites=tuple(str(number) for number in range(cites)),
            ),
            visible,
        )
        for cites in range(most_cites + 1)
    ]


def entry_text(entry: CacheEntry, visible: VisibleWorld) -> str:
    return _text(
        Finding(
            finding_id="finding-1",
            source="cache",
            subtask_id=entry.subtask_id,
            values=entry.values,
            text=entry.text,
            confidence=0.5,
            cites=entry.cites,
            entry_id=entry.entry_id,
            version=entry.version,
            age_hours=entry.age_hours,
        ),
        visible,
    )


def _text(finding: Finding, visible: VisibleWorld) -> str:
    phase = next(phase for phase in visible.phases if finding.subtask_id in phase.subtasks)
    return finding_text(finding, phase, dict.fromkeys(finding.cites, 1), FINDING_CAP_TOKENS)


def least_tokens(texts: list[str], card: ModelCard) -> int:
    """Of all ways it can read; where the cap cuts, a longer confidence or number may cut a little more."""
    return min(text_tokens(card, text) - (_CUT_TOKENS if tokens.CUT_MARK in text else 0) for text in texts)


def held_tokens(texts: list[str], kind: ItemKind, card: ModelCard) -> int:
    """As an item of memory."""
    return least_tokens([item_header(1, kind.value) + text for text in texts], card)


def saved_tokens(values: Mapping[str, str], card: ModelCard) -> int:
    """Of a finding in a note."""
    return text_tokens(card, "; ".join(f"{name}={value}" for name, value in values.items()))


class Frame:
    """What stands around memory in each prompt of the policy."""

    def __init__(self, visible: VisibleWorld) -> None:
        card = visible.controller
        self.heads = tuple(text_tokens(card, phase.head) for phase in visible.phases)
        nothing = Budget(limit=0, spent=0, left=0)
        budgets = Budgets(tokens=nothing, nano_usd=nothing, steps=nothing, latency_ms=nothing)
        memory = WorkingMemory(items=(), token_budget=visible.limits.memory_tokens, token_budget_used=0)
        last = ToolResult(action_type=ActionType.READ_ARTIFACT, status="ok", payload=RefusedPayload())
        self.first_tail = text_tokens(card, tail_text(memory, None, budgets, (), must_submit=False))
        self.tail = text_tokens(card, tail_text(memory, last, budgets, (), must_submit=False))
        ask = text_tokens(card, "ask 1 1")
        self.ask_words = ask
        self.escalate_words = min(ask, text_tokens(card, "up 1"))
        self.handle_words = text_tokens(card, "ask 1 1 1") - ask
        self.effort_words = min(text_tokens(card, f"ask 1 1 {effort.value}") for effort in Effort) - ask
        self.submit_words = text_tokens(card, "submit 1")


class Growth:
    """The most that one step can add to memory, as the policy's prompt counts it, unless it loads segments."""

    def __init__(self, scenario: Scenario, visible: VisibleWorld) -> None:
        card = visible.controller
        counts = visible.public.segment_tokens
        ratio = max(mine / yard for mine, yard in zip(counts[card.vocabulary], counts[YARDSTICK], strict=True))
        rate = max(1.0, ratio) * _UNEVENNESS * card.vocabulary_permille / 1_000
        frame = text_tokens(card, "9999 A99 s999 999t ")
        answers = [
            text
            for truth in scenario.hidden.subtasks
            for candidate in truth.candidates
            for text in answer_texts(candidate, truth.subtask_id, visible, len(truth.needs))
        ]
        most_cites = max(len(truth.needs) for truth in scenario.hidden.subtasks)
        longest = max(text_tokens(card, item_header(9_999, ItemKind.FINDING.value) + text) for text in answers)
        self.finding = longest + _LONGER_NUMBER_TOKENS * (1 + most_cites)
        self.noted = CHECKPOINT_CAP_TOKENS * rate
        self.looking_up = CACHE_MAX_HITS * FINDING_CAP_TOKENS * rate
        whole = [
            sum(
                text_tokens(card, item_header(9_999, view.label))
                + model_tokens(card, visible.segment_tokens(card.vocabulary, view.segment_id))
                for view in phase.artifacts[name].segments
            )
            for phase in visible.phases
            for name in phase.small_artifacts
        ]
        hits = SEARCH_MAX_TOP_K * (frame + SNIPPET_CAP_TOKENS * rate)
        outline = PREVIEW_PAGE_SEGMENTS * (frame + TITLE_CAP_TOKENS * rate)
        self.surfacing = max([hits, outline, *whole])
