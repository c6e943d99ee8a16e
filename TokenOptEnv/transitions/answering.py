"""Answering: the submission is laid down; `rewards` judges it."""

from __future__ import annotations

from TokenOptEnv.episode_state import EpisodeState, Submission, evolve
from TokenOptEnv.models import SubmitPayload
from TokenOptEnv.models.base import trusted
from TokenOptEnv.moves import Submit
from TokenOptEnv.transitions.effect import Effect
from TokenOptEnv.world import VisibleWorld


def submit(state: EpisodeState, move: Submit, visible: VisibleWorld) -> Effect:
    payload = trusted(
        SubmitPayload,
        kind="submit",
        answer=dict(move.answer),
        finding_ids=tuple([finding.finding_id for finding in move.findings]),
        evidence_segment_ids=move.evidence_ids,
    )
    submission = Submission(move.answer, move.findings, move.evidence_ids)
    return Effect(evolve(state, submission=submission), payload)
