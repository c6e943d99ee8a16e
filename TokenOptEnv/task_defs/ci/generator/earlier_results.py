"""Earlier results: what can be trusted is of this version and young; the others are neither."""

from __future__ import annotations

from collections.abc import Sequence

from TokenOptEnv.scenario import CacheValidity
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.generator.asked import Asked
from TokenOptEnv.task_defs.ci.generator.repository import Repository
from TokenOptEnv.task_defs.ci.generator.sheet import Sheet
from TokenOptEnv.task_defs.ci.generator.wording import Wording, paraphrase
from TokenOptEnv.task_defs.generation import Outline


def keep_earlier_results(
    outline: Outline,
    sheet: Sheet,
    repository: Repository,
    asked: Sequence[Asked],
    words: Wording,
    draw: Stream,
) -> None:
    """Three to five. A valid one answers the dearest question: the survey, or the one that looks for the culprit."""
    count = draw.integer(3, 5)
    kinds = [CacheValidity.STALE, CacheValidity.WRONG_VERSION]
    kinds += [draw.choice((CacheValidity.STALE, CacheValidity.WRONG_VERSION)) for _ in range(count - 2)]
    dearest = next((each for each in asked if each.item.is_survey), asked[-1])
    if outline.valid_cache:
        kinds[-1] = CacheValidity.VALID
    for number, kind in enumerate(draw.shuffled(kinds), start=1):
        if kind is CacheValidity.VALID:
            each, answer = dearest, dearest.replies.right
            cites = [quote for clue in dearest.decisive for quote in clue.quotes[:1]]
            version, age_hours = sheet.version, draw.integer(1, 3)
        else:
            each = draw.choice(asked)
            answer = draw.choice([answer for answer in each.replies.wrong if answer.clues])
            cites = [clue.quotes[0] for clue in answer.clues[:2]]
            older = draw.choice(repository.commits[: max(1, len(repository.commits) // 2)])
            version, age_hours = f"main@{older.sha}", draw.integer(40, 140)
            if kind is CacheValidity.WRONG_VERSION:
                version, age_hours = f"{repository.aside_ref}@{repository.aside.sha}", draw.integer(2, 30)
        sheet.cached(
            f"cache-{number}",
            each.item.name,
            paraphrase(each.item.asks[0], words, draw),
            answer.values,
            answer.text,
            version=version,
            age_hours=age_hours,
            cites=cites,
            validity=kind,
        )
