"""Earlier results, derived: an outdated one that is wrong, and, where there is more to find out, one that still holds.

A case with a single question has none that holds: looking it up would be all there is to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from TokenOptEnv.scenario import CacheValidity
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply

_FRESH_HOURS: Final = (2, 20)
_OUTDATED_HOURS: Final = (400, 2_000)


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with what is said to it, and where that stands."""

    subtask_id: str
    question: str
    right: Reply
    right_quote: Quote
    wrong: Reply
    wrong_quote: Quote


def add_earlier_results(builder: CaseBuilder, answered: Sequence[Answered], draw: Stream) -> None:
    outdated = answered[0]
    builder.cached(
        f"earlier-{outdated.subtask_id}",
        outdated.subtask_id,
        outdated.question,
        outdated.wrong.values,
        outdated.wrong.text,
        f"before {builder.version}",
        draw.integer(*_OUTDATED_HOURS),
        [outdated.wrong_quote],
        CacheValidity.WRONG_VERSION,
    )
    if len(answered) > 1:
        holds = answered[-1]
        builder.cached(
            f"recent-{holds.subtask_id}",
            holds.subtask_id,
            holds.question,
            holds.right.values,
            holds.right.text,
            builder.version,
            draw.integer(*_FRESH_HOURS),
            [holds.right_quote],
            CacheValidity.VALID,
        )
